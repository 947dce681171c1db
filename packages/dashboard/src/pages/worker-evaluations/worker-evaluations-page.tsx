import { Button, Group, Skeleton, Stack, Switch } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import {
  useEvaluations,
  useEvaluationTable,
  useExamples,
  useStartEvaluation,
} from '../../evaluations/evaluation-queries';
import type { Example, Worker } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { Empty } from '../../ui/empty';
import { FailedToLoad, Failure } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { useChangeWorker } from '../../workers/use-change-worker';
import { WorkerFrame } from '../../workers/worker-frame';
import { EvaluationRefusal } from './evaluation-refusal';
import { ExampleList } from './example-list';
import { PassRates } from './pass-rates';
import { RunningEvaluation } from './running-evaluation';
import { VersionTable } from './version-table';
import styles from './worker-evaluations.module.css';

const ExampleDialog = lazy(() => import('../../evaluations/example-dialog'));

/** Shows the examples of a worker, and the results of each of its versions. */
export default function WorkerEvaluationsPage() {
  return <WorkerFrame tab="Evaluations">{(worker) => <Evaluations key={worker.id} worker={worker} />}</WorkerFrame>;
}

function Evaluations({ worker }: { worker: Worker }) {
  const examples = useExamples(worker.id);
  const table = useEvaluationTable(worker.id);
  const evaluations = useEvaluations(worker.id);
  const start = useStartEvaluation(worker.id);
  const [editing, setEditing] = useState<Example | 'new' | null>(null);
  const mayEdit = worker.permissions.edit && worker.status !== 'archived';
  const failed = [examples, table, evaluations].find(({ error, data }) => error && !data);
  if (failed?.error) return <FailedToLoad what="The evaluations" error={failed.error} retry={failed.refetch} />;
  if (!examples.data || !table.data || !evaluations.data) return <Skeleton height={420} radius={10} />;

  const running = evaluations.data.filter(({ status }) => status === 'running');
  const hasExamples = examples.data.length > 0;
  const isEvaluated = table.data.versions.some(({ evaluation_id: id }) => id !== null);
  const add = mayEdit && (
    <Button {...(hasExamples && { variant: 'default' })} onClick={() => setEditing('new')}>
      Add example
    </Button>
  );
  return (
    <Stack gap="lg">
      {hasExamples && mayEdit && (
        <Group gap="12px 24px" justify="space-between">
          <OnSave worker={worker} />
          <Button
            loading={start.isPending}
            disabled={
              !examples.data.some(({ enabled }) => enabled) || running.some((one) => one.version_sha === worker.sha)
            }
            onClick={() => start.mutate(undefined)}
          >
            Evaluate version {worker.version}
          </Button>
        </Group>
      )}
      <EvaluationRefusal error={start.error} />
      {running.map((evaluation) => (
        <RunningEvaluation key={evaluation.id} evaluation={evaluation} mayStop={mayEdit} />
      ))}
      {isEvaluated && (
        <Panel title="Examples by version">
          <VersionTable
            workerId={worker.id}
            table={table.data}
            current={worker.sha}
            evaluate={mayEdit ? (sha) => start.mutate(sha) : undefined}
          />
          <PassRates versions={table.data.versions} />
        </Panel>
      )}
      <Panel title="Examples" aside={hasExamples && add}>
        {hasExamples ? (
          <ExampleList worker={worker} examples={examples.data} mayEdit={mayEdit} onEdit={setEditing} />
        ) : (
          <Empty title="No examples yet">
            <p>
              An example is inputs, and what has to be true of the output: that it equals something, contains it, fits a
              schema, or convinces a model. Evaluate a version, and you see which examples it gets right; a later one
              shows what got better and what broke. A run that went well can be saved as an example on its page.
            </p>
            {add && <div>{add}</div>}
          </Empty>
        )}
      </Panel>
      {editing !== null && (
        <Suspense>
          <ExampleDialog
            worker={worker}
            {...(editing !== 'new' && { example: editing })}
            onClose={() => setEditing(null)}
          />
        </Suspense>
      )}
    </Stack>
  );
}

function OnSave({ worker }: { worker: Worker }) {
  const change = useChangeWorker(worker.id);
  const isOn = change.isPending ? change.variables.evaluate_on_save === true : worker.evaluate_on_save;
  const switchTo = (on: boolean) =>
    change.mutate(
      { evaluate_on_save: on },
      {
        onSuccess: () =>
          toast(on ? 'Each new version is evaluated' : 'New versions are not evaluated automatically', {
            undo: () => change.mutate({ evaluate_on_save: !on }),
          }),
      },
    );
  return (
    <div>
      <Switch
        classNames={{ track: styles.track ?? '' }}
        label="Evaluate each new version"
        description="Automatically, as soon as it is saved. Models and judges cost money."
        checked={isOn}
        onChange={(event) => switchTo(event.currentTarget.checked)}
      />
      <Failure title="Nothing was changed" error={change.error} />
    </div>
  );
}
