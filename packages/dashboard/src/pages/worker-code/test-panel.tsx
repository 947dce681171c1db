import { Stack } from '@mantine/core';
import { useState } from 'react';
import type { FailureLocation } from '../../code/code-problem';
import type { Draft } from '../../code/use-draft';
import { encodeFileInputs } from '../../inputs/encode-file-inputs';
import { buildInputFormKey } from '../../inputs/input-form';
import { TestForm } from '../../inputs/test-form';
import { api, type InputItem, type Worker } from '../../shell/api';
import { toJsonObject } from '../../ui/json';
import { Panel } from '../../ui/panel';
import { type Inputs, useSampleInputs } from '../../workers/use-sample-inputs';
import { TestResult } from './test-result';

/** The form of a worker without declared inputs, which accepts any. */
const UNTYPED_INPUTS: InputItem[] = [
  { name: 'inputs', label: 'Inputs', type: 'json', description: 'A JSON object. Optional.' },
];

interface TestPanelProps {
  worker: Worker;
  draft: Draft;
  /** Called with the place of a failure; null when a new test starts. */
  onFailure: (failure: FailureLocation | null) => void;
}

/** Runs the unsaved draft with the worker's secrets and limits. */
export function TestPanel({ worker, draft, onFailure }: TestPanelProps) {
  const { sample, button, failure } = useSampleInputs(worker.id);
  const [runId, setRunId] = useState<string | null>(null);
  return (
    <Panel title="Test" aside={worker.inputs.length > 0 && button}>
      <Stack gap="md">
        {failure}
        <WorkerTestForm
          key={buildInputFormKey(worker.inputs, sample?.count)}
          worker={worker}
          draft={draft}
          initialInputs={sample?.inputs ?? null}
          onStarted={(id) => {
            onFailure(null);
            setRunId(id);
          }}
        />
        {runId !== null && <TestResult key={runId} worker={worker} runId={runId} onFailure={onFailure} />}
      </Stack>
    </Panel>
  );
}

interface WorkerTestFormProps extends Pick<TestPanelProps, 'worker' | 'draft'> {
  initialInputs: Inputs | null;
  onStarted: (runId: string) => void;
}

function WorkerTestForm({ worker, draft, initialInputs, onStarted }: WorkerTestFormProps) {
  const hasDeclaredInputs = worker.inputs.length > 0;
  async function start(formInputs: Inputs) {
    const inputs = await encodeFileInputs(hasDeclaredInputs ? formInputs : toJsonObject(formInputs.inputs), 'link');
    const { baseSha: base_sha, changes: files } = draft;
    const body = { draft: { base_sha, ...(files.length && { files }) }, inputs };
    const params = { path: { worker_id: worker.id } };
    const { run_id } = await api.worker.POST('/api/workers/{worker_id}/test', { params, body });
    onStarted(run_id);
  }
  return (
    <TestForm
      items={hasDeclaredInputs ? (worker.inputs as InputItem[]) : UNTYPED_INPUTS}
      initialValues={initialInputs}
      onTest={start}
    >
      Runs the code in the editor with the worker’s secrets, without saving a version.
    </TestForm>
  );
}
