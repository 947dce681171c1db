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
import { bindChecked } from '../../ui/bind';
import { EmptyState } from '../../ui/empty-state';
import { ErrorNotice, LoadErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { canEditWorker } from '../../workers/can-edit-worker';
import { useUpdateWorker } from '../../workers/use-update-worker';
import { WorkerLayout } from '../../workers/worker-layout';
import { EvaluationError } from './evaluation-error';
import { ExampleList } from './example-list';
import { PassRates } from './pass-rates';
import { RunningEvaluation } from './running-evaluation';
import { VersionTable } from './version-table';

const ExampleDialog = lazy(() => import('../../evaluations/example-dialog'));

/** Shows the examples of a worker, and the results of each of its versions. */
export default function WorkerEvaluationsPage() {
  return (
    <WorkerLayout tab="Evaluations">{(worker) => <WorkerEvaluations key={worker.id} worker={worker} />}</WorkerLayout>
  );
}

function WorkerEvaluations({ worker }: { worker: Worker }) {
  const examples = useExamples(worker.id);
  const table = useEvaluationTable(worker.id);
  const evaluations = useEvaluations(worker.id);
  const start = useStartEvaluation(worker.id);
  const [editing, setEditing] = useState<Example | 'new' | null>(null);
  const canEdit = canEditWorker(worker);
  const failed = [examples, table, evaluations].find(({ error, data }) => error && !data);
  if (failed?.error) return <LoadErrorNotice what="The evaluations" error={failed.error} retry={failed.refetch} />;
  if (!examples.data || !table.data || !evaluations.data) return <Skeleton height={420} radius={10} />;

  const running = evaluations.data.filter(({ status }) => status === 'running');
  const hasExamples = examples.data.length > 0;
  const isEvaluated = table.data.versions.some(({ evaluation_id: id }) => id !== null);
  const addButton = canEdit && (
    <Button {...(hasExamples && { variant: 'default' })} onClick={() => setEditing('new')}>
      Add example
    </Button>
  );
  return (
    <Stack gap="lg">
      {hasExamples && canEdit && (
        <Group gap="12px 24px" justify="space-between">
          <EvaluateOnSaveSwitch worker={worker} />
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
      <EvaluationError error={start.error} />
      {running.map((evaluation) => (
        <RunningEvaluation key={evaluation.id} evaluation={evaluation} canStop={canEdit} />
      ))}
      {isEvaluated && (
        <Panel title="Examples by version">
          <VersionTable
            workerId={worker.id}
            table={table.data}
            current={worker.sha}
            onEvaluate={canEdit ? (sha) => start.mutate(sha) : undefined}
          />
          <PassRates versions={table.data.versions} />
        </Panel>
      )}
      <Panel title="Examples" aside={hasExamples && addButton}>
        {hasExamples ? (
          <ExampleList worker={worker} examples={examples.data} canEdit={canEdit} onEdit={setEditing} />
        ) : (
          <EmptyState title="No examples yet">
            <p>
              An example is a set of inputs with checks on the output. A check can require the output to equal a value,
              contain a value or match a schema, or it can have a model grade the output. Evaluate a version to see
              which examples pass, then evaluate later versions to see what improved or broke. You can also save a
              successful run as an example from the run page.
            </p>
            {addButton && <div>{addButton}</div>}
          </EmptyState>
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

function EvaluateOnSaveSwitch({ worker }: { worker: Worker }) {
  const change = useUpdateWorker(worker.id);
  const isOn = change.isPending ? change.variables.evaluate_on_save === true : worker.evaluate_on_save;
  const setEvaluateOnSave = (isEnabled: boolean) =>
    change.mutate(
      { evaluate_on_save: isEnabled },
      {
        onSuccess: () =>
          toast(`New versions ${isEnabled ? 'will' : 'won’t'} be evaluated automatically`, {
            undo: () => change.mutate({ evaluate_on_save: !isEnabled }),
          }),
      },
    );
  return (
    <div>
      <Switch
        label="Evaluate each new version"
        description="Starts automatically when a version is saved. Model calls may incur costs."
        {...bindChecked(isOn, setEvaluateOnSave)}
      />
      <ErrorNotice title="Changes not saved" error={change.error} />
    </div>
  );
}
