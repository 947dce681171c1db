import { Button } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { useMemberNames } from '../../workers/use-member-names';
import { useUpdateWorker } from '../../workers/use-update-worker';
import { SettingAction } from './setting-action';

export function VisibilityPanel({ worker }: { worker: Worker }) {
  const change = useUpdateWorker(worker.id);
  const names = useMemberNames();
  const isPrivate = worker.visibility === 'private';
  const owner = (worker.owner_id !== null && names?.get(worker.owner_id)) || 'an API token';
  const otherVisibility = isPrivate ? 'workspace' : 'private';
  return (
    <Panel title="Visibility">
      <SettingAction
        title={isPrivate ? 'Visible to the owner and admins' : 'Visible to everyone in the workspace'}
        about={`Owned by ${owner}. The worker’s runs, logs and files have the same visibility.`}
      >
        {worker.permissions.change_visibility && worker.status !== 'archived' && (
          <Button
            variant="default"
            loading={change.isPending}
            onClick={() =>
              change.mutate(
                { visibility: otherVisibility },
                {
                  onSuccess: () =>
                    toast(`${worker.name} ${isPrivate ? 'shared with the workspace' : 'made private'}`, {
                      undo: () => change.mutate({ visibility: worker.visibility }),
                    }),
                },
              )
            }
          >
            {isPrivate ? 'Share with workspace' : 'Make private'}
          </Button>
        )}
      </SettingAction>
      <ErrorNotice title="Changes not saved" error={change.error} />
    </Panel>
  );
}
