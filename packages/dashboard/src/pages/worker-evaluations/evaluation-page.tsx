import { Button, Stack, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useParams, useSearchParams } from 'react-router';
import { useEvaluation, useStartEvaluation } from '../../evaluations/evaluation-queries';
import { formatTotals } from '../../evaluations/evaluation-totals';
import { ResultsTable } from '../../rehearsals/results-table';
import { type EvaluationDetail, type EvaluationResult, hasErrorStatus } from '../../shell/api';
import { NotFound } from '../../shell/frame/not-found';
import { getExampleIdParam, workerPath } from '../../shell/paths';
import { useTitle } from '../../shell/use-title';
import { formatDollars, formatDuration } from '../../ui/format';
import { CheckIcon, CrossIcon, StopIcon, WaitIcon } from '../../ui/icons';
import { LoadingPage } from '../../ui/loading-page';
import { LoadErrorNotice, Notice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { StatusChip } from '../../ui/status-chip';
import type { Column } from '../../ui/table-model';
import { Timestamp } from '../../ui/timestamp';
import { canEditWorker } from '../../workers/can-edit-worker';
import { useWorker } from '../../workers/use-worker';
import { EvaluationError } from './evaluation-error';
import { ExampleResultDetail } from './example-result';
import { RunningEvaluation } from './running-evaluation';

/** Shows the results of one evaluation, example by example. */
export default function EvaluationPage() {
  const { workerId = '', evaluationId = '' } = useParams();
  const { data: worker } = useWorker(workerId);
  const { data: evaluation, error, refetch } = useEvaluation(workerId, evaluationId);
  const above = worker
    ? [
        { to: workerPath(workerId), label: worker.name },
        { to: workerPath(workerId, 'workerEvaluations'), label: 'Evaluations' },
      ]
    : [];
  useTitle(evaluation && `Version ${evaluation.version}`, above);
  if (hasErrorStatus(error, 403, 404)) return <NotFound what="evaluation" />;
  if (error && !evaluation) return <LoadErrorNotice what="The evaluation" error={error} retry={refetch} />;
  if (!evaluation) return <LoadingPage what="the evaluation" columns="minmax(0, 1fr)" />;
  const canEdit = worker !== undefined && canEditWorker(worker);
  return <LoadedEvaluation key={evaluationId} evaluation={evaluation} canEdit={canEdit} />;
}

function LoadedEvaluation({ evaluation, canEdit }: { evaluation: EvaluationDetail; canEdit: boolean }) {
  const { version, status, totals, usd, results } = evaluation;
  const start = useStartEvaluation(evaluation.worker_id);
  const [search] = useSearchParams();
  const requestedExampleId = getExampleIdParam(search);
  const requestedName = useRef<HTMLParagraphElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to the example of the URL, once.
  useEffect(() => {
    requestedName.current?.scrollIntoView({ block: 'center' });
    requestedName.current?.focus({ preventScroll: true });
  }, [requestedExampleId]);
  return (
    <>
      <PageHeader
        title={`Evaluation of version ${version}`}
        about={
          <>
            <EvaluationStatusChip evaluation={evaluation} />
            <span>
              {evaluation.trigger === 'save' ? 'Started automatically' : 'Started'}{' '}
              <Timestamp at={Date.parse(evaluation.created_at)} />
            </span>
            {evaluation.duration_ms !== null && <span>Took {formatDuration(evaluation.duration_ms)}</span>}
            {usd > 0 && <span>{formatDollars(usd)}</span>}
            <span className="visually-hidden" role="status">
              {status === 'running' ? 'Running.' : formatTotals(totals)}
            </span>
          </>
        }
        actions={
          canEdit &&
          status !== 'running' && (
            <Button variant="default" loading={start.isPending} onClick={() => start.mutate(evaluation.version_sha)}>
              Evaluate again
            </Button>
          )
        }
      />
      <Stack gap="md">
        {status === 'running' && <RunningEvaluation evaluation={evaluation} canStop={canEdit} showsResults />}
        {evaluation.error && (
          <Notice tone="error" title="The evaluation didn’t finish">
            {evaluation.error}
          </Notice>
        )}
        <EvaluationError error={start.error} />
        <ResultsTable
          label="Results"
          isCard
          rows={results}
          getKey={({ example_id: id }) => id}
          name={{
            head: 'Example',
            cell: ({ example_id: id, example_name: name }) => (
              <Text
                span
                className="wrap-anywhere"
                fw={640}
                {...(id === requestedExampleId && { ref: requestedName, tabIndex: -1 })}
              >
                {name}
              </Text>
            ),
            getText: ({ example_name: name }) => name,
          }}
          verdict={{ head: 'Result', get: (result) => result.status }}
          columns={RESULT_COLUMNS}
          renderDetail={(result) => <ExampleResultDetail result={result} />}
          isRequested={({ example_id: id }) => id === requestedExampleId}
        />
      </Stack>
    </>
  );
}

const RESULT_COLUMNS: Column<EvaluationResult>[] = [
  { head: 'Time', isNumber: true, isLabelled: true, cell: ({ duration_ms: ms }) => ms !== null && formatDuration(ms) },
  { head: 'Cost', isNumber: true, isLabelled: true, cell: ({ usd }) => usd > 0 && formatDollars(usd) },
];

function EvaluationStatusChip({ evaluation: { status, totals } }: { evaluation: EvaluationDetail }) {
  if (status === 'running') {
    return <StatusChip tone="running" icon={<WaitIcon />} word="Running" />;
  }
  if (status === 'stopped') {
    return <StatusChip tone="idle" icon={<StopIcon />} word={`Stopped: ${formatTotals(totals)}`} />;
  }
  const hasPassed = status === 'completed' && totals.passed === totals.total;
  return (
    <StatusChip
      tone={hasPassed ? 'success' : 'error'}
      icon={hasPassed ? <CheckIcon /> : <CrossIcon />}
      word={formatTotals(totals)}
    />
  );
}
