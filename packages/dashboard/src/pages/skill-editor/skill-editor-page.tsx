import { Navigate, useParams } from 'react-router';
import { skillPath } from '../../shell/paths';
import { useTitle } from '../../shell/use-title';
import { useSkill } from '../../skills/use-skill';
import { LoadingPage } from '../../ui/loading-page';
import { LoadErrorNotice } from '../../ui/notice';
import { SkillEditor } from './skill-editor';

/** Edits a new skill or an existing one. */
export default function SkillEditorPage() {
  const { slug } = useParams();
  const { data: skill, error, refetch } = useSkill(slug ?? '');
  const above = skill ? [{ to: skillPath(skill.slug), label: skill.title }] : [];
  useTitle(slug === undefined ? 'New skill' : skill && 'Edit', above);
  if (slug === undefined) return <SkillEditor initialSkill={null} />;
  if (error && !skill) return <LoadErrorNotice what="The skill" error={error} retry={refetch} />;
  if (!skill) return <LoadingPage what="the skill" columns="minmax(0, 1fr) minmax(0, 1fr)" />;
  if (!skill.owned) return <Navigate to={skillPath(slug)} replace />;
  return <SkillEditor key={slug} initialSkill={skill} />;
}
