import { useSearchParams } from 'react-router';
import { ViewerNotice } from '../../accounts/viewer-notice';
import { getTemplateIdParam, SKILL_TEMPLATE_ID } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { TEMPLATES } from '../../workers/templates/template-list';
import { EMPTY_TEMPLATE } from './empty-template';
import { NewWorkerForm } from './new-worker-form';
import { SkillWorkerForm } from './skill-worker-form';
import { TemplateGallery } from './template-gallery';

export default function NewWorkerPage() {
  const [search] = useSearchParams();
  const role = useWorkspace()?.role;
  const templateId = getTemplateIdParam(search);
  const template = [...TEMPLATES, EMPTY_TEMPLATE].find(({ id }) => id === templateId);
  if (role === 'viewer') return <ViewerNotice action="create workers" />;
  if (templateId === SKILL_TEMPLATE_ID) return <SkillWorkerForm />;
  return template ? <NewWorkerForm key={template.id} template={template} /> : <TemplateGallery />;
}
