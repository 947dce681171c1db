import { ApiError } from '@gantry/sdk';
import { Button, Group, NativeSelect, Stack, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ModelSetupInstructions } from '../../models/missing-model-state';
import { listModelNames, useModels } from '../../models/use-models';
import { api, type WorkerRun } from '../../shell/api';
import { bindText } from '../../ui/bind';
import { Dialog } from '../../ui/dialog';
import { FormStack, handleSubmit } from '../../ui/form';
import { ErrorNotice } from '../../ui/notice';
import { cacheRepair } from './repair-queries';

const INSTRUCTIONS_CHARS_MAX = 4_000;

/** Starts a repair, or explains how to set a model if there is none. */
export default function RepairDialog({ run, onClose }: { run: WorkerRun; onClose: () => void }) {
  const queryClient = useQueryClient();
  const { data: models } = useModels();
  const [instructions, setInstructions] = useState('');
  const [model, setModel] = useState('');
  const startRepair = useMutation({
    mutationFn: async () => {
      const body = { ...(instructions.trim() && { instructions: instructions.trim() }), ...(model && { model }) };
      const params = { path: { run_id: run.id } };
      return api.worker.POST('/api/runs/{run_id}/repair', { params, body });
    },
    onSuccess: (repair) => {
      cacheRepair(queryClient, run, repair);
      onClose();
    },
  });
  if (models?.length === 0 || getApiErrorCode(startRepair.error) === 'no_model')
    return <NoModelDialog onClose={onClose} />;
  return (
    <Dialog title="Repair this run" onClose={onClose}>
      <FormStack p="lg" onSubmit={handleSubmit(() => startRepair.mutate())}>
        <p>
          A model reads this run, its log and the code, then proposes a change. The change is rehearsed against this run
          and the last five successful runs, without external effects. You then decide whether to apply it.
        </p>
        <Textarea
          label="Instructions for the model"
          description="Optional."
          placeholder="The supplier renamed the column on Monday."
          rows={3}
          maxLength={INSTRUCTIONS_CHARS_MAX}
          {...bindText(instructions, setInstructions)}
        />
        <NativeSelect
          label="Model"
          {...bindText(model, setModel)}
          data={[
            { value: '', label: 'Default' },
            ...listModelNames(models ?? []).map((name) => ({ value: name, label: name })),
          ]}
        />
        <ErrorNotice title="Repair not started" error={startRepair.error} explanations={EXPLANATIONS} />
        <Group gap="sm" justify="space-between">
          <p className="caption">Costs up to $0.50 if a price is set for the model. Secrets are masked.</p>
          <Button type="submit" loading={startRepair.isPending}>
            Repair
          </Button>
        </Group>
      </FormStack>
    </Dialog>
  );
}

const NoModelDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="No language model is configured" onClose={onClose}>
    <Stack gap="md" p="lg">
      <p>Repairs need a model to read the code and write the change.</p>
      <ModelSetupInstructions />
    </Stack>
  </Dialog>
);

const getApiErrorCode = (error: Error | null): string | undefined =>
  error instanceof ApiError ? error.code : undefined;

const EXPLANATIONS = {
  repair_open: {
    title: 'Another repair is open for this worker',
    children:
      'The repair is either still in progress for another run or awaiting a decision under Approvals. Stop the repair or decide on it first.',
  },
};
