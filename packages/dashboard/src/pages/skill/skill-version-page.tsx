import { unwrap } from '@gantry/sdk';
import { Button, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from 'react-router';
import { DiffView } from '../../code/diff-view';
import { isStatus, type Skill, type SkillVersionText, skillsApi } from '../../shell/api';
import { NotFound } from '../../shell/frame/not-found';
import { skillPath } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { RenderedSkill } from '../../skills/rendered-skill';
import { skillKeys } from '../../skills/skill-keys';
import { useSkill } from '../../skills/use-skill';
import { LoadingPage } from '../../ui/loading-page';
import { FailedToLoad, Failure } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import styles from './skill-page.module.css';
import { UseInWorker } from './use-in-worker';

/** Shows an earlier version, its diff to the current one, and publishes it again. */
export default function SkillVersionPage() {
  const { slug = '', version: asked = '' } = useParams();
  const version = Number(asked);
  const workspaceId = useWorkspace()?.id;
  const skill = useSkill(slug);
  const old = useQuery({
    queryKey: skillKeys.version(workspaceId, slug, version),
    queryFn: async () =>
      unwrap(
        (await skillsApi()).GET('/api/v1/skills/{slug}/versions/{version}', { params: { path: { slug, version } } }),
      ),
    enabled: workspaceId !== undefined && Number.isInteger(version),
    staleTime: Number.POSITIVE_INFINITY,
  });
  useTitle(`Version ${asked}`, skill.data && [{ to: skillPath(slug), label: skill.data.title }]);
  const error = skill.error ?? old.error;
  if (!Number.isInteger(version) || isStatus(error, 400, 403, 404, 410)) return <NotFound what="version" />;
  if (error) return <FailedToLoad what="This version" error={error} retry={() => old.refetch()} />;
  if (!skill.data || !old.data) return <LoadingPage what="this version" columns={styles.column} />;
  return <LoadedVersion skill={skill.data} old={old.data} />;
}

function LoadedVersion({ skill, old }: { skill: Skill; old: SkillVersionText }) {
  const mayWrite = useWorkspace()?.role !== 'viewer';
  const again = usePublishAgain(skill, old);
  const isCurrent = old.version === skill.version;
  return (
    <>
      <PageHead
        title={old.title}
        about={
          <>
            <span>
              Version {old.version} of {skill.version}
            </span>
            <span>
              Saved <Timestamp at={Date.parse(old.created_at)} />
            </span>
            {old.message && <span>{old.message}</span>}
          </>
        }
        actions={
          mayWrite && (
            <>
              <UseInWorker skill={{ slug: skill.slug, contentHash: old.content_hash }} />
              {!isCurrent && (
                <Button loading={again.isPending} onClick={() => again.mutate()}>
                  Publish this text again
                </Button>
              )}
            </>
          )
        }
      />
      <Failure title="Nothing was changed" error={again.error} />
      <div className={styles.column}>
        {!isCurrent && (
          <Panel title={`Changed since, up to version ${skill.version}`}>
            {old.body_md === skill.body_md ? (
              <Text fz="xs" c="dimmed">
                The text is the same; only the other fields have changed.
              </Text>
            ) : (
              <DiffView
                label={`Version ${old.version} and version ${skill.version}`}
                path="SKILL.md"
                before={old.body_md}
                after={skill.body_md}
              />
            )}
          </Panel>
        )}
        <Panel title="As it was">
          {old.description && <p className={styles.description}>{old.description}</p>}
          <RenderedSkill title={old.title} text={old.body_md} url={skill.url} />
        </Panel>
      </div>
    </>
  );
}

/** Creates a new version with an old text, so that the versions in between are kept. */
function usePublishAgain({ slug, version }: Skill, old: SkillVersionText) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async () => {
      const { title, description, tags, license, body_md } = old;
      return unwrap(
        (await skillsApi()).PATCH('/api/v1/skills/{slug}', {
          params: { path: { slug } },
          body: {
            ...{ title, description, tags, license, body_md },
            ...{ message: `Version ${old.version} again`, expected_version: version },
          },
        }),
      );
    },
    onSuccess: (changed) => {
      queryClient.setQueryData(skillKeys.one(workspaceId, slug), changed);
      void queryClient.invalidateQueries({ queryKey: ['skills', workspaceId, 'list'] });
      navigate(skillPath(slug));
      toast(`Version ${changed.version} has the text of version ${old.version}`);
    },
  });
}
