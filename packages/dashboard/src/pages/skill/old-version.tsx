import { unwrap } from '@gantry/api-client';
import { Button, Skeleton } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Skill, skillsApi } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { RenderedSkill } from '../../skills/rendered-skill';
import { skillKeys } from '../../skills/skill-keys';
import { Dialog } from '../../ui/dialog';
import { FailedToLoad, Failure } from '../../ui/notice';
import styles from './skill-page.module.css';

interface OldVersionProps {
  skill: Skill;
  version: number;
  mayChange: boolean;
  onClose: () => void;
}

/** An earlier text, and the way back to it: publishing it again makes a new version of it. */
export function OldVersion({ skill, version, mayChange, onClose }: OldVersionProps) {
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const { slug } = skill;
  const { data, error, refetch } = useQuery({
    queryKey: skillKeys.version(workspaceId, slug, version),
    queryFn: async () =>
      unwrap(
        (await skillsApi()).GET('/api/v1/skills/{slug}/versions/{version}', { params: { path: { slug, version } } }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const again = useMutation({
    mutationFn: async () => {
      const { title, description, tags, license, body_md } = data ?? skill;
      return unwrap(
        (await skillsApi()).PATCH('/api/v1/skills/{slug}', {
          params: { path: { slug } },
          body: {
            ...{ title, description, tags, license, body_md },
            ...{ message: `Version ${version} again`, expected_version: skill.version },
          },
        }),
      );
    },
    onSuccess: (changed) => {
      queryClient.setQueryData(skillKeys.one(workspaceId, slug), changed);
      void queryClient.invalidateQueries({ queryKey: ['skills', workspaceId, 'list'] });
      toast(`Version ${changed.version} has the text of version ${version}`);
      onClose();
    },
  });
  return (
    <Dialog title={`Version ${version}`} onClose={onClose}>
      <div className={styles.old}>
        {error && !data ? (
          <FailedToLoad what="This version" error={error} retry={refetch} />
        ) : !data ? (
          <Skeleton height={240} />
        ) : (
          <>
            <h3>{data.title}</h3>
            <RenderedSkill title={data.title} text={data.body_md} url={skill.url} />
          </>
        )}
        <Failure title="Nothing was changed" error={again.error} />
        <div className={styles.answer}>
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          {mayChange && (
            <Button disabled={!data} loading={again.isPending} onClick={() => again.mutate()}>
              Publish this text again
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}
