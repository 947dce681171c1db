import { Button, Group, Stack } from '@mantine/core';
import { Link } from 'react-router';
import { useStopEvaluation } from '../../evaluations/evaluation-queries';
import { endedIn } from '../../evaluations/result-words';
import type { Evaluation } from '../../shell/api';
import { evaluationPath } from '../../shell/paths';
import { dollars } from '../../ui/format';
import { Failure } from '../../ui/notice';
import styles from './running-evaluation.module.css';

interface RunningEvaluationProps {
  evaluation: Evaluation;
  mayStop: boolean;
  /** Its results are on this page. */
  isOpen?: boolean;
}

/** Shows the progress of an evaluation: passed, failed and remaining examples. */
export function RunningEvaluation({ evaluation, mayStop, isOpen = false }: RunningEvaluationProps) {
  const { id, worker_id: workerId, version, totals, usd } = evaluation;
  const stop = useStopEvaluation(workerId);
  const ended = endedIn(totals);
  const parts = [
    { tone: 'success', count: totals.passed },
    { tone: 'error', count: totals.failed },
    { tone: 'timeout', count: totals.error },
  ];
  return (
    <Stack
      component="section"
      className="surface"
      gap="sm"
      p="16px 24px"
      aria-label={`Evaluation of version ${version}`}
    >
      <Group gap="8px 16px" justify="space-between" fz="sm">
        <p>
          <strong>Evaluating version {version}</strong> · {ended} of {totals.total}
          {totals.failed > 0 && `, ${totals.failed} failed`}
          {usd > 0 && ` · ${dollars(usd)}`}
        </p>
        <Group gap="8px 16px" fz="sm">
          {!isOpen && <Link to={evaluationPath(workerId, id)}>See the results</Link>}
          {mayStop && (
            <Button size="compact-sm" variant="default" loading={stop.isPending} onClick={() => stop.mutate(id)}>
              Stop
            </Button>
          )}
        </Group>
      </Group>
      <div
        className={styles.track}
        role="progressbar"
        aria-label={`Evaluation of version ${version}`}
        aria-valuemin={0}
        aria-valuemax={totals.total}
        aria-valuenow={ended}
      >
        {parts.map(({ tone, count }) => (
          <span key={tone} className={styles.part} data-tone={tone} style={{ flexGrow: count }} />
        ))}
        <span style={{ flexGrow: Math.max(0, totals.total - ended) }} />
      </div>
      <Failure title="The evaluation was not stopped" error={stop.error} />
    </Stack>
  );
}
