import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { candidateKeys } from '../../candidates/candidate-queries';
import type { Draft } from '../../code/use-draft';
import { api, type Worker } from '../../shell/api';
import { candidatePath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { bindText } from '../../ui/bind';
import { Dialog } from '../../ui/dialog';
import { DialogButton } from '../../ui/dialog-button';
import { FormStack, handleSubmit } from '../../ui/form';
import { ErrorNotice } from '../../ui/notice';

interface RehearseDraftButtonProps {
  worker: Worker;
  draft: Draft;
  disabled: boolean;
}

const MESSAGE_CHARS_MAX = 500;
const RUN_COUNTS = [1, 3, 5, 10, 20];
const DEFAULT_RUN_COUNT = 5;

/** Creates a candidate from the draft, which is kept, and opens it. */
export const RehearseDraftButton = ({ worker, draft, disabled }: RehearseDraftButtonProps) => (
  <DialogButton label="Dry run…" disabled={disabled}>
    {(close) => <RehearseDialog worker={worker} draft={draft} onClose={close} />}
  </DialogButton>
);

type RehearseDialogProps = Omit<RehearseDraftButtonProps, 'disabled'> & { onClose: () => void };

function RehearseDialog({ worker, draft, onClose }: RehearseDialogProps) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  const [message, setMessage] = useState('');
  const [count, setCount] = useState(DEFAULT_RUN_COUNT);
  const createCandidate = useMutation({
    mutationFn: async () => {
      const { baseSha: base_sha, changes: files } = draft;
      const body = { base_sha, files, last_successful: count, ...(message.trim() && { message: message.trim() }) };
      const params = { path: { worker_id: worker.id } };
      return api.worker.POST('/api/workers/{worker_id}/candidates', { params, body });
    },
    onSuccess: (candidate) => {
      queryClient.setQueryData(candidateKeys.one(workspaceId, worker.id, candidate.id), candidate);
      void queryClient.invalidateQueries({ queryKey: candidateKeys.list(workspaceId, worker.id) });
      navigate(candidatePath(worker.id, candidate.id));
    },
  });
  return (
    <Dialog title="Dry run" onClose={onClose}>
      <FormStack p="lg" onSubmit={handleSubmit(() => createCandidate.mutate())}>
        <p>
          Runs the draft with inputs from past runs, without external effects: write requests return recorded responses.
          Review the differences, then promote or drop the candidate.
        </p>
        <NativeSelect
          label="Past runs to use"
          value={String(count)}
          onChange={(event) => setCount(Number(event.currentTarget.value))}
          data={RUN_COUNTS.map((runs) => ({
            value: String(runs),
            label: runs === 1 ? 'The last successful run' : `The last ${runs} successful runs`,
          }))}
        />
        <TextInput
          label="Change message"
          description="Optional. Used as the candidate’s name."
          maxLength={MESSAGE_CHARS_MAX}
          {...bindText(message, setMessage)}
        />
        <ErrorNotice title="Dry run not started" error={createCandidate.error} explanations={EXPLANATIONS} />
        <Group gap="xs" justify="flex-end">
          <p className="caption">Read-only requests are still sent, and models may be called.</p>
          <Button type="submit" loading={createCandidate.isPending}>
            Start dry run
          </Button>
        </Group>
      </FormStack>
    </Dialog>
  );
}

const EXPLANATIONS = {
  too_many_candidates: {
    title: 'Too many pending candidates',
    children: 'Promote or drop some of the candidates under Versions first.',
  },
};
