import { Button } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useParams, useSearchParams } from 'react-router';
import { useEvaluation, useStartEvaluation } from '../../evaluations/evaluation-queries';
import { totalsInWords } from '../../evaluations/result-words';
import { type EvaluationDetail, isStatus } from '../../shell/api';
import { NotFound } from '../../shell/frame/not-found';
import { exampleIdIn, workerPath } from '../../shell/paths';
import { useTitle } from '../../shell/use-title';
import { dollars, duration } from '../../ui/format';
import { CheckIcon, CrossIcon, StopIcon, WaitIcon } from '../../ui/icons';
import { LoadingPage } from '../../ui/loading-page';
import { FailedToLoad, Notice } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { StatusChip } from '../../ui/status-chip';
import { Timestamp } from '../../ui/timestamp';
import { useWorker } from '../../workers/use-worker';
import styles from './evaluation-page.module.css';
import { EvaluationRefusal } from './evaluation-refusal';
import { Result } from './result';
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
  if (isStatus(error, 403, 404)) return <NotFound what="evaluation" />;
  if (error && !evaluation) return <FailedToLoad what="The evaluation" error={error} retry={refetch} />;
  if (!evaluation) return <LoadingPage what="the evaluation" columns={styles.results} />;
  const mayEdit = worker?.permissions.edit === true && worker.status !== 'archived';
  return <Loaded key={evaluationId} evaluation={evaluation} mayEdit={mayEdit} />;
}

function Loaded({ evaluation, mayEdit }: { evaluation: EvaluationDetail; mayEdit: boolean }) {
  const {
    worker_id: workerId,
    version,
    version_sha: sha,
    status,
    totals,
    usd,
    results,
    created_at: begun,
  } = evaluation;
  const start = useStartEvaluation(workerId);
  const [search] = useSearchParams();
  const wanted = exampleIdIn(search);
  const asked = useRef<HTMLLIElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to the example of the URL, once.
  useEffect(() => {
    asked.current?.scrollIntoView({ block: 'center' });
    asked.current?.querySelector('summary')?.focus({ preventScroll: true });
  }, [wanted]);
  return (
    <>
      <PageHead
        title={`Evaluation of version ${version}`}
        about={
          <>
            <Summary evaluation={evaluation} />
            <span>
              {evaluation.trigger === 'save' ? 'Started automatically' : 'Started'} <Timestamp at={Date.parse(begun)} />
            </span>
            {evaluation.duration_ms !== null && <span>Took {duration(evaluation.duration_ms)}</span>}
            {usd > 0 && <span>{dollars(usd)}</span>}
            <span className="visually-hidden" role="status">
              {status === 'running' ? 'It is running.' : totalsInWords(totals)}
            </span>
          </>
        }
        actions={
          mayEdit &&
          status !== 'running' && (
            <Button variant="default" loading={start.isPending} onClick={() => start.mutate(sha)}>
              Evaluate again
            </Button>
          )
        }
      />
      <div className={styles.results}>
        {status === 'running' && <RunningEvaluation evaluation={evaluation} mayStop={mayEdit} isOpen />}
        {evaluation.error && (
          <Notice tone="error" title="The evaluation did not finish">
            {evaluation.error}
          </Notice>
        )}
        <EvaluationRefusal error={start.error} />
        <ul className="surface" aria-label="Results">
          {results.map((result) => (
            <Result
              key={result.example_id}
              ref={result.example_id === wanted ? asked : undefined}
              result={result}
              opens={result.example_id === wanted || result.status === 'failed' || result.status === 'error'}
            />
          ))}
        </ul>
      </div>
    </>
  );
}

function Summary({ evaluation: { status, totals } }: { evaluation: EvaluationDetail }) {
  if (status === 'running') {
    return (
      <StatusChip tone="running" icon={<WaitIcon />}>
        Running
      </StatusChip>
    );
  }
  if (status === 'stopped') {
    return (
      <StatusChip tone="idle" icon={<StopIcon />}>
        Stopped: {totalsInWords(totals)}
      </StatusChip>
    );
  }
  const isGood = status === 'completed' && totals.passed === totals.total;
  return (
    <StatusChip tone={isGood ? 'success' : 'error'} icon={isGood ? <CheckIcon /> : <CrossIcon />}>
      {totalsInWords(totals)}
    </StatusChip>
  );
}
