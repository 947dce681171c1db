import { Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useParams } from 'react-router';
import { DiffView } from '../../code/diff-view';
import { api, hasErrorStatus, type Skill, type SkillVersionText } from '../../shell/api';
import { NotFound } from '../../shell/frame/not-found';
import { skillPath } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { RenderedSkill } from '../../skills/rendered-skill';
import { skillKeys } from '../../skills/skill-keys';
import { useSkill, useUpdateCachedSkill } from '../../skills/use-skill';
import { LoadingPage } from '../../ui/loading-page';
import { ErrorNotice, LoadErrorNotice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import styles from './skill-page.module.css';
import { UseInWorkerButton } from './use-in-worker-button';

/** Shows an earlier version, its diff to the current one, and publishes it again. */
export default function SkillVersionPage() {
  const { slug = '', version: versionParam = '' } = useParams();
  const version = Number(versionParam);
  const skill = useSkill(slug);
  const oldVersion = useWorkspaceQuery(
    (workspaceId) => skillKeys.version(workspaceId, slug, version),
    () => api.skills.GET('/api/v1/skills/{slug}/versions/{version}', { params: { path: { slug, version } } }),
    { enabled: Number.isInteger(version), staleTime: Number.POSITIVE_INFINITY },
  );
  useTitle(`Version ${versionParam}`, skill.data && [{ to: skillPath(slug), label: skill.data.title }]);
  const error = skill.error ?? oldVersion.error;
  if (!Number.isInteger(version) || hasErrorStatus(error, 400, 403, 404, 410)) return <NotFound what="version" />;
  if (error) return <LoadErrorNotice what="This version" error={error} retry={() => oldVersion.refetch()} />;
  if (!skill.data || !oldVersion.data) return <LoadingPage what="this version" columns="minmax(0, 1fr)" />;
  return <LoadedVersion skill={skill.data} oldVersion={oldVersion.data} />;
}

function LoadedVersion({ skill, oldVersion }: { skill: Skill; oldVersion: SkillVersionText }) {
  const canWrite = useWorkspace()?.role !== 'viewer';
  const republish = useRepublishVersion(skill, oldVersion);
  const isCurrent = oldVersion.version === skill.version;
  return (
    <>
      <PageHeader
        title={oldVersion.title}
        about={
          <>
            <span>
              Version {oldVersion.version} of {skill.version}
            </span>
            <span>
              Saved <Timestamp at={Date.parse(oldVersion.created_at)} />
            </span>
            {oldVersion.message && <span>{oldVersion.message}</span>}
          </>
        }
        actions={
          canWrite && (
            <>
              <UseInWorkerButton skill={{ slug: skill.slug, contentHash: oldVersion.content_hash }} />
              {!isCurrent && (
                <Button loading={republish.isPending} onClick={() => republish.mutate()}>
                  Restore this version
                </Button>
              )}
            </>
          )
        }
      />
      <ErrorNotice title="Version not restored" error={republish.error} />
      <Stack gap="lg">
        {!isCurrent && (
          <Panel title={`Changes from version ${oldVersion.version} to version ${skill.version}`}>
            {oldVersion.body_md === skill.body_md ? (
              <Text fz="xs" c="dimmed">
                The text is unchanged. Only other fields have changed.
              </Text>
            ) : (
              <DiffView
                label={`Version ${oldVersion.version} compared with version ${skill.version}`}
                path="SKILL.md"
                before={oldVersion.body_md}
                after={skill.body_md}
              />
            )}
          </Panel>
        )}
        <Panel title="Text">
          {oldVersion.description && <p className={styles.description}>{oldVersion.description}</p>}
          <RenderedSkill title={oldVersion.title} text={oldVersion.body_md} url={skill.url} />
        </Panel>
      </Stack>
    </>
  );
}

/** Creates a new version with an old text, so that the versions in between are kept. */
function useRepublishVersion({ slug, version }: Skill, oldVersion: SkillVersionText) {
  const updateCachedSkill = useUpdateCachedSkill();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async () => {
      const { title, description, tags, license, body_md } = oldVersion;
      return api.skills.PATCH('/api/v1/skills/{slug}', {
        params: { path: { slug } },
        body: {
          title,
          description,
          tags,
          license,
          body_md,
          message: `Restored version ${oldVersion.version}`,
          expected_version: version,
        },
      });
    },
    onSuccess: (updatedSkill) => {
      updateCachedSkill(updatedSkill);
      navigate(skillPath(slug));
      toast(`Version ${oldVersion.version} restored as version ${updatedSkill.version}`);
    },
  });
}
