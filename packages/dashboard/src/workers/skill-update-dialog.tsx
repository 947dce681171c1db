import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { findText } from '../code/files';
import type { Skill, Worker } from '../shell/api';
import { toast } from '../shell/toasts';
import { useSkill } from '../skills/use-skill';
import { Dialog } from '../ui/dialog';
import { ErrorNotice, LoadErrorNotice } from '../ui/notice';
import { formatSkillPin } from './use-create-skill-worker';
import { useUpdateWorker } from './use-update-worker';
import { useVersionFiles } from './version-files';

const DiffView = lazy(() => import('../code/diff-view').then((module) => ({ default: module.DiffView })));

/** Compares an agent's copy of a skill with the newer text; a button updates it. */
export default function SkillUpdateDialog({
  worker,
  slug,
  onClose,
}: {
  worker: Worker;
  slug: string;
  onClose: () => void;
}) {
  const { data: skill, error, refetch } = useSkill(slug);
  return (
    <Dialog title={skill ? `${skill.title}, version ${skill.version}` : slug} onClose={onClose} wide>
      {error && <LoadErrorNotice what="The skill" error={error} retry={refetch} />}
      {skill && <SkillUpdate worker={worker} skill={skill} onClose={onClose} />}
      {!skill && !error && <Skeleton height={240} />}
    </Dialog>
  );
}

function SkillUpdate({ worker, skill, onClose }: { worker: Worker; skill: Skill; onClose: () => void }) {
  const { id, sha, entrypoint, permissions, status } = worker;
  const { data: files, error, refetch } = useVersionFiles(id, sha);
  const change = useUpdateWorker(id, (updated) => {
    toast(`Updated to skill version ${skill.version}. Worker version ${updated.version} created.`);
    onClose();
  });
  const before = files && findText(files, entrypoint);
  return (
    <Stack gap="md" p="lg">
      {error ? (
        <LoadErrorNotice what="The current version" error={error} retry={refetch} />
      ) : before === undefined ? (
        <Skeleton height={240} />
      ) : (
        <Suspense fallback={<Skeleton height={240} />}>
          <DiffView label="Current and latest versions" path={entrypoint} before={before ?? ''} after={skill.body_md} />
        </Suspense>
      )}
      <ErrorNotice title="Worker not updated" error={change.error} />
      <Group gap="xs" align="stretch">
        {permissions.edit && status !== 'archived' && (
          <Button
            loading={change.isPending}
            disabled={before === undefined}
            // Uses the text that was shown, not one that was saved since.
            onClick={() =>
              change.mutate({
                skill: formatSkillPin({ slug: skill.slug, contentHash: skill.content_hash }),
                base_sha: sha,
              })
            }
          >
            Update to latest version
          </Button>
        )}
        <Button variant="default" onClick={onClose}>
          Keep current version
        </Button>
      </Group>
    </Stack>
  );
}
