import { Button, Group } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { Elsewhere } from '../../accounts/elsewhere';
import { isStatus, type Skill } from '../../shell/api';
import { foundSkillsPath, skillEditorPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { CopyLink } from '../../skills/copy-link';
import { RenderedSkill } from '../../skills/rendered-skill';
import { SaveButton } from '../../skills/save-button';
import { skillKeys } from '../../skills/skill-keys';
import { countsOf } from '../../skills/skill-row';
import { readSkill, useSkill } from '../../skills/use-skill';
import { VisibilityChip } from '../../skills/visibility';
import { LoadingPage } from '../../ui/loading-page';
import { FailedToLoad } from '../../ui/notice';
import layout from '../../ui/page.module.css';
import { PageHead } from '../../ui/page-head';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import { DeletedSkill } from './deleted-skill';
import { InLibraries } from './in-libraries';
import { Install } from './install';
import { Sharing } from './sharing';
import styles from './skill-page.module.css';
import { UseInWorker } from './use-in-worker';
import { Versions } from './versions';

export default function SkillPage() {
  const { slug = '' } = useParams();
  const workspaceId = useWorkspace()?.id;
  const { data: skill, error, refetch } = useSkill(slug);
  useTitle(skill?.title);
  if (isStatus(error, 410)) return <DeletedSkill slug={slug} />;
  if (isStatus(error, 403, 404)) {
    const queryKey = skillKeys.one(workspaceId, slug);
    return <Elsewhere what="skill" queryKey={queryKey} read={(headers) => readSkill(slug, headers)} />;
  }
  if (error && !skill) return <FailedToLoad what="The skill" error={error} retry={refetch} />;
  if (!skill) return <LoadingPage what="the skill" columns={layout.mainAndAside} />;
  return <LoadedSkill key={skill.slug} skill={skill} />;
}

function LoadedSkill({ skill }: { skill: Skill }) {
  const mayWrite = useWorkspace()?.role !== 'viewer';
  const mayChange = skill.owned && mayWrite;
  return (
    <>
      <PageHead
        title={skill.title}
        about={<About skill={skill} />}
        actions={
          <>
            <CopyLink url={skill.url} />
            {!skill.owned && <SaveButton skill={skill} />}
            {mayWrite && <UseInWorker skill={{ slug: skill.slug, contentHash: skill.content_hash }} />}
            {mayChange && (
              <Button component={Link} to={skillEditorPath(skill.slug)}>
                Edit
              </Button>
            )}
          </>
        }
      />
      <div className={layout.mainAndAside}>
        <div className={styles.column}>
          <Panel
            title="As it is published"
            aside={
              <a href={skill.url} target="_blank" rel="noreferrer" className={styles.open}>
                Open the page
              </a>
            }
          >
            {skill.description && <p className={styles.description}>{skill.description}</p>}
            <RenderedSkill title={skill.title} text={skill.body_md} url={skill.url} />
          </Panel>
          <Install skill={skill} />
        </div>
        <div className={styles.column}>
          {skill.owned && <Sharing skill={skill} mayChange={mayChange} />}
          {mayWrite && <InLibraries skill={skill} />}
          {skill.owned && <Versions skill={skill} />}
        </div>
      </div>
    </>
  );
}

function About({ skill }: { skill: Skill }) {
  return (
    <>
      <VisibilityChip visibility={skill.visibility} />
      {!skill.owned && skill.owner.name && <span>By {skill.owner.name}</span>}
      <span>Version {skill.version}</span>
      <span>
        Changed <Timestamp at={Date.parse(skill.updated_at)} />
      </span>
      {skill.license && <span>{skill.license}</span>}
      {countsOf(skill).map((words) => (
        <span key={words}>{words}</span>
      ))}
      <UsedByWorkers {...skill.used_by_workers} />
      {skill.tags.length > 0 && (
        <Group component="ul" className={styles.tags} gap={4} align="stretch" aria-label="Tags">
          {skill.tags.map((tag) => (
            <li key={tag}>
              <Link to={foundSkillsPath(tag)}>{tag}</Link>
            </li>
          ))}
        </Group>
      )}
    </>
  );
}

/** Counts the workers that use the skill, over all workspaces if the reader owns it. */
function UsedByWorkers({ workspace, total }: Skill['used_by_workers']) {
  const here = workspace ?? 0;
  const elsewhere = Math.max(0, (total ?? here) - here);
  if (here + elsewhere === 0) return null;
  const many = (count: number) => `${count} ${count === 1 ? 'worker' : 'workers'}`;
  if (elsewhere === 0) return <span>Used by {many(here)}</span>;
  return (
    <span>
      Used by {many(here)} here and {elsewhere} elsewhere
    </span>
  );
}
