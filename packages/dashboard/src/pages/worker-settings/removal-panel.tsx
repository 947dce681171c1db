import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { api, type Worker } from '../../shell/api';
import { paths } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { bindText } from '../../ui/bind';
import { DialogButton } from '../../ui/dialog-button';
import { FormDialog } from '../../ui/form-dialog';
import { ErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { useInvalidateWorkers } from '../../workers/use-worker';
import { SettingAction } from './setting-action';

const toPathParams = (worker: Worker) => ({ params: { path: { worker_id: worker.id } } });

/** Archives a worker, which keeps its history, or deletes it. */
export function RemovalPanel({ worker }: { worker: Worker }) {
  const { permissions } = worker;
  if (!permissions.archive && !permissions.delete) return null;
  return (
    <Panel title="Archive or delete">
      <div className="divided rows">
        {permissions.archive && <ArchiveSection worker={worker} />}
        {permissions.delete && (
          <SettingAction
            title="Delete"
            about="Stops all runs immediately and permanently deletes the worker’s history, logs and files. The ID can be reused."
          >
            <DialogButton label="Delete worker" color="red">
              {(close) => <DeleteDialog worker={worker} onClose={close} />}
            </DialogButton>
          </SettingAction>
        )}
      </div>
    </Panel>
  );
}

type ArchiveAction = 'archive' | 'restore';

function ArchiveSection({ worker }: { worker: Worker }) {
  const invalidateWorkers = useInvalidateWorkers();
  const change = useMutation({
    mutationFn: (move: ArchiveAction) => api.worker.POST(`/api/workers/{worker_id}/${move}`, toPathParams(worker)),
    onSuccess: async (_changed, move) => {
      await invalidateWorkers();
      toast(move === 'archive' ? `${worker.name} archived` : `${worker.name} restored`, {
        undo: () => change.mutate(move === 'archive' ? 'restore' : 'archive'),
      });
    },
  });
  const isArchived = worker.status === 'archived';
  return (
    <>
      <SettingAction
        title={isArchived ? 'Restore' : 'Archive'}
        about={
          isArchived
            ? 'Reactivates the worker’s schedule, webhook and event triggers.'
            : 'Hides the worker and prevents new runs. The history is kept, and you can restore the worker later.'
        }
      >
        <Button
          variant="default"
          loading={change.isPending}
          onClick={() => change.mutate(isArchived ? 'restore' : 'archive')}
        >
          {isArchived ? 'Restore worker' : 'Archive worker'}
        </Button>
      </SettingAction>
      <ErrorNotice title="Changes not saved" error={change.error} />
    </>
  );
}

function DeleteDialog({ worker, onClose }: { worker: Worker; onClose: () => void }) {
  const [confirmation, setConfirmation] = useState('');
  const invalidateWorkers = useInvalidateWorkers();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => api.worker.DELETE('/api/workers/{worker_id}', toPathParams(worker)),
    onSuccess: () => {
      // Leaves first, because its pages would refetch the deleted worker.
      navigate(paths.workers);
      toast(`${worker.name} deleted`);
      void invalidateWorkers();
    },
  });
  return (
    <FormDialog
      title={`Delete ${worker.name}?`}
      submit="Delete permanently"
      isDangerous
      isDisabled={confirmation.trim() !== worker.id}
      mutation={remove}
      failure="Worker not deleted"
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    >
      <p>This deletes all of the worker’s runs, logs and files. To keep them, archive the worker instead.</p>
      <TextInput
        label={`Type ${worker.id} to confirm`}
        {...bindText(confirmation, setConfirmation)}
        autoComplete="off"
        spellCheck={false}
      />
    </FormDialog>
  );
}
