import { useSearchParams } from 'react-router';
import { FROM_SKILL, templateIdIn } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { Notice } from '../../ui/notice';
import { TEMPLATES } from '../../workers/templates/all';
import { EMPTY } from './empty-template';
import { FromSkill } from './from-skill';
import { NewWorkerForm } from './new-worker-form';
import { TemplateGallery } from './template-gallery';

export default function NewWorkerPage() {
  const [search] = useSearchParams();
  const role = useWorkspace()?.role;
  const wanted = templateIdIn(search);
  const template = [...TEMPLATES, EMPTY].find(({ id }) => id === wanted);
  if (role === 'viewer') {
    return (
      <Notice tone="info" title="Viewers can’t create workers">
        Ask an admin of the workspace for the role member.
      </Notice>
    );
  }
  if (wanted === FROM_SKILL) return <FromSkill />;
  return template ? <NewWorkerForm key={template.id} template={template} /> : <TemplateGallery />;
}
