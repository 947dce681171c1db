import { Stack, Text } from '@mantine/core';
import { useNavigate } from 'react-router';
import { buildInputFormKey, InputForm } from '../inputs/input-form';
import { useInvalidateRuns } from '../runs/worker-runs';
import { api, type InputItem, type Worker } from '../shell/api';
import { workerRunPath } from '../shell/paths';
import { toJsonObject } from '../ui/json';
import { Notice } from '../ui/notice';
import { type Inputs, useSampleInputs } from './use-sample-inputs';

interface RunFormProps {
  worker: Worker;
  /** Inputs of an earlier run to begin with. */
  initialInputs?: Inputs | null;
}

/** A worker that declares no inputs takes any. */
const ANY_INPUTS_NAME = 'inputs';
const ANY_INPUTS: InputItem[] = [
  {
    name: ANY_INPUTS_NAME,
    label: 'Inputs',
    type: 'json',
    description: 'Optional JSON object. This worker accepts any inputs.',
  },
];

/** Starts a run and opens its page. */
export function RunForm({ worker, initialInputs: given = null }: RunFormProps) {
  const navigate = useNavigate();
  const invalidateRuns = useInvalidateRuns();
  const { sample, button, failure } = useSampleInputs(worker.id);
  const params = { path: { worker_id: worker.id } };
  const hasDeclaredInputs = worker.inputs.length > 0;
  const items = hasDeclaredInputs ? (worker.inputs as InputItem[]) : ANY_INPUTS;
  const values = sample?.inputs ?? given;

  async function start(formInputs: Inputs) {
    const inputs = hasDeclaredInputs ? formInputs : toJsonObject(formInputs[ANY_INPUTS_NAME]);
    const run = await api.worker.POST('/api/workers/{worker_id}/runs', { params, body: { inputs } });
    void invalidateRuns();
    navigate(workerRunPath(run.run_id));
  }

  if (!worker.permissions.run)
    return (
      <Text fz="sm" c="dimmed">
        Viewers can see runs but can’t start them.
      </Text>
    );
  if (worker.status !== 'active') return <InactiveNotice status={worker.status} />;
  return (
    <Stack gap="md">
      {worker.approvals.required && (
        <Text fz="sm" c="dimmed">
          Each run requires approval before it starts.
        </Text>
      )}
      {hasDeclaredInputs && button}
      {failure}
      <InputForm
        key={buildInputFormKey(items, sample?.count)}
        items={items}
        initialValues={hasDeclaredInputs ? values : values && { [ANY_INPUTS_NAME]: values }}
        canRun
        onRun={start}
      />
    </Stack>
  );
}

const InactiveNotice = ({ status }: { status: Worker['status'] }) => (
  <Notice tone="info">
    {status === 'paused'
      ? 'This worker is paused. To start a run, resume the worker.'
      : 'This worker is archived. To start a run, restore the worker.'}
  </Notice>
);
