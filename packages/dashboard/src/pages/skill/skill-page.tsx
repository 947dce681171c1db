import { Anchor, Group, Stack } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { renderResourceError } from '../../accounts/resource-error';
import { hasErrorStatus, type Skill } from '../../shell/api';
import { LinkButton } from '../../shell/link-button';
import { skillEditorPath, skillSearchPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { CopyLinkButton } from '../../skills/copy-link-button';
import { RenderedSkill } from '../../skills/rendered-skill';
import { SaveSkillButton } from '../../skills/save-skill-button';
import { skillKeys } from '../../skills/skill-keys';
import { listSkillCounts } from '../../skills/skill-row';
import { getSkill, useSkill } from '../../skills/use-skill';
import { VisibilityChip } from '../../skills/visibility-field';
import { Columns } from '../../ui/columns';
import { LoadingPage } from '../../ui/loading-page';
import { PageHeader } from '../../ui/page-header';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import { AddToLibraryPanel } from './add-to-library-panel';
import { DeletedSkillNotice } from './deleted-skill-notice';
import { InstallPanel } from './install-panel';
import { SharingPanel } from './sharing-panel';
import styles from './skill-page.module.css';
import { SkillVersions } from './skill-versions';
import { UseInWorkerButton } from './use-in-worker-button';

export default function SkillPage() {
  const { slug = '' } = useParams();
  const workspaceId = useWorkspace()?.id;
  const query = useSkill(slug);
  const { data: skill } = query;
  useTitle(skill?.title);
  if (hasErrorStatus(query.error, 410)) return <DeletedSkillNotice slug={slug} />;
  const resourceError = renderResourceError({
    query,
    resourceKind: 'skill',
    queryKey: skillKeys.one(workspaceId, slug),
    read: (headers) => getSkill(slug, headers),
  });
  if (resourceError) return resourceError;
  if (!skill) return <LoadingPage what="the skill" />;
  return <SkillDetails key={skill.slug} skill={skill} />;
}

function SkillDetails({ skill }: { skill: Skill }) {
  const canWrite = useWorkspace()?.role !== 'viewer';
  const canEdit = skill.owned && canWrite;
  return (
    <>
      <PageHeader
        title={skill.title}
        about={<SkillSummary skill={skill} />}
        actions={
          <>
            <CopyLinkButton url={skill.url} />
            {!skill.owned && <SaveSkillButton skill={skill} />}
            {canWrite && <UseInWorkerButton skill={{ slug: skill.slug, contentHash: skill.content_hash }} />}
            {canEdit && <LinkButton to={skillEditorPath(skill.slug)}>Edit</LinkButton>}
          </>
        }
      />
      <Columns>
        <Stack gap="lg">
          <Panel
            title="Published page"
            aside={
              <Anchor href={skill.url} target="_blank" rel="noreferrer" fz="sm" td="underline">
                Open page
              </Anchor>
            }
          >
            {skill.description && <p className={styles.description}>{skill.description}</p>}
            <RenderedSkill title={skill.title} text={skill.body_md} url={skill.url} />
          </Panel>
          <InstallPanel skill={skill} />
        </Stack>
        <Stack gap="lg">
          {skill.owned && <SharingPanel skill={skill} canEdit={canEdit} />}
          {canWrite && <AddToLibraryPanel skill={skill} />}
          {skill.owned && <SkillVersions skill={skill} />}
        </Stack>
      </Columns>
    </>
  );
}

function SkillSummary({ skill }: { skill: Skill }) {
  return (
    <>
      <VisibilityChip visibility={skill.visibility} />
      {!skill.owned && skill.owner.name && <span>By {skill.owner.name}</span>}
      <span>Version {skill.version}</span>
      <span>
        Updated <Timestamp at={Date.parse(skill.updated_at)} />
      </span>
      {skill.license && <span>{skill.license}</span>}
      {listSkillCounts(skill).map((words) => (
        <span key={words}>{words}</span>
      ))}
      <SkillUsage {...skill.used_by_workers} />
      {skill.tags.length > 0 && (
        <Group component="ul" className={styles.tags} gap={4} align="stretch" aria-label="Tags">
          {skill.tags.map((tag) => (
            <li key={tag}>
              <Link to={skillSearchPath(tag)}>{tag}</Link>
            </li>
          ))}
        </Group>
      )}
    </>
  );
}

/** Counts the workers that use the skill, over all workspaces if the reader owns it. */
function SkillUsage({ workspace, total }: Skill['used_by_workers']) {
  const here = workspace ?? 0;
  const elsewhere = Math.max(0, (total ?? here) - here);
  if (here + elsewhere === 0) return null;
  const formatWorkerCount = (count: number) => `${count} ${count === 1 ? 'worker' : 'workers'}`;
  if (elsewhere === 0) return <span>Used by {formatWorkerCount(here)}</span>;
  return (
    <span>
      Used by {formatWorkerCount(here)} in this workspace and {elsewhere} in others
    </span>
  );
}
