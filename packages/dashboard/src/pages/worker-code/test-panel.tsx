import { unwrap } from '@gantry/api-client';
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { FailedPlace } from '../../code/code-problem';
import type { Draft } from '../../code/use-draft';
import { problemsOf } from '../../inputs/input-problems';
import { objectOf } from '../../inputs/object-of';
import { sendFiles } from '../../inputs/send-files';
import { useInputFields } from '../../inputs/use-input-fields';
import { type InputItem, type Worker, workerApi } from '../../shell/api';
import { PlayIcon } from '../../ui/icons';
import { Failure, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import styles from './test-panel.module.css';
import { TestResult } from './test-result';

/** A worker that declares no inputs takes any. */
const ANYTHING: InputItem[] = [
  { name: 'inputs', label: 'Inputs', type: 'json', description: 'A JSON object, or nothing.' },
];

type Inputs = Record<string, unknown>;

interface TestPanelProps {
  worker: Worker;
  draft: Draft;
  /** Told where the code failed; null when a new test begins. */
  onFailure: (failure: FailedPlace | null) => void;
}

/** Runs the draft as it is, with the worker's secrets and limits, without saving it. */
export function TestPanel({ worker, draft, onFailure }: TestPanelProps) {
  const [sample, setSample] = useState<{ inputs: Inputs; count: number } | null>(null);
  const fill = useMutation({
    mutationFn: async () => {
      const params = { path: { worker_id: worker.id } };
      return unwrap((await workerApi()).GET('/api/workers/{worker_id}/sample-input', { params }));
    },
    onSuccess: ({ inputs }) => setSample((before) => ({ inputs, count: (before?.count ?? 0) + 1 })),
  });
  const [runId, setRunId] = useState<string | null>(null);
  return (
    <Panel
      title="Test"
      aside={
        worker.inputs.length > 0 && (
          <Button size="compact-sm" variant="default" loading={fill.isPending} onClick={() => fill.mutate()}>
            Fill in a sample
          </Button>
        )
      }
    >
      <div className={styles.test}>
        <Failure title="No sample" error={fill.error} />
        <TestForm
          key={`${worker.version} ${sample?.count ?? 0}`}
          worker={worker}
          draft={draft}
          given={sample?.inputs ?? null}
          onStarted={(id) => {
            onFailure(null);
            setRunId(id);
          }}
        />
        {runId !== null && <TestResult key={runId} worker={worker} runId={runId} onFailure={onFailure} />}
      </div>
    </Panel>
  );
}

interface TestFormProps extends Pick<TestPanelProps, 'worker' | 'draft'> {
  given: Inputs | null;
  onStarted: (runId: string) => void;
}

function TestForm({ worker, draft, given, onStarted }: TestFormProps) {
  const declares = worker.inputs.length > 0;
  const items = declares ? (worker.inputs as InputItem[]) : ANYTHING;
  const { fields, problem, show, read } = useInputFields(items, given);
  const form = useRef<HTMLFormElement>(null);
  const start = useMutation({
    mutationFn: async (typed: Inputs) => {
      const inputs = await sendFiles(declares ? typed : objectOf(typed.inputs), 'link');
      const { baseSha: base_sha, changes: files } = draft;
      const body = { draft: { base_sha, ...(files.length && { files }) }, inputs };
      const params = { path: { worker_id: worker.id } };
      return unwrap((await workerApi()).POST('/api/workers/{worker_id}/test', { params, body }));
    },
    onSuccess: ({ run_id }) => onStarted(run_id),
    onError: (error) => show(problemsOf(error, items)),
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    const { inputs, problems } = read();
    show(problems);
    if (problems.size === 0) start.mutate(inputs);
  }
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      form.current?.requestSubmit();
    };
    // Before the editor, where it would begin a line.
    document.addEventListener('keydown', press, { capture: true });
    return () => document.removeEventListener('keydown', press, { capture: true });
  }, []);
  return (
    <form ref={form} className={styles.form} onSubmit={submit} noValidate>
      {fields}
      {problem !== undefined && (
        <Notice tone="error" title="The test was not started">
          {problem}
        </Notice>
      )}
      <Button type="submit" leftSection={<PlayIcon />} loading={start.isPending} fullWidth>
        Test this draft
      </Button>
      <p className={styles.note}>
        Runs what is in the editor with the worker’s secrets, and saves no version. <kbd>Ctrl</kbd> <kbd>Enter</kbd>
      </p>
    </form>
  );
}
