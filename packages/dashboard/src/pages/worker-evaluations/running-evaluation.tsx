import { Box, Button, Flex, Group, Stack } from '@mantine/core';
import { Link } from 'react-router';
import { useStopEvaluation } from '../../evaluations/evaluation-queries';
import { countFinished } from '../../evaluations/evaluation-totals';
import type { Evaluation } from '../../shell/api';
import { evaluationPath } from '../../shell/paths';
import { formatDollars } from '../../ui/format';
import { ErrorNotice } from '../../ui/notice';

const GROWS = { transition: 'flex-grow 300ms ease-out' };

interface RunningEvaluationProps {
  evaluation: Evaluation;
  canStop: boolean;
  /** Its results are on this page. */
  showsResults?: boolean;
}

/** Shows the progress of an evaluation: passed, failed and remaining examples. */
export function RunningEvaluation({ evaluation, canStop, showsResults = false }: RunningEvaluationProps) {
  const { id, worker_id: workerId, version, totals, usd } = evaluation;
  const stop = useStopEvaluation(workerId);
  const endedCount = countFinished(totals);
  const segments = [
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
          <strong>Evaluating version {version}</strong> · {endedCount} of {totals.total}
          {totals.failed > 0 && `, ${totals.failed} failed`}
          {usd > 0 && ` · ${formatDollars(usd)}`}
        </p>
        <Group gap="8px 16px" fz="sm">
          {!showsResults && <Link to={evaluationPath(workerId, id)}>View results</Link>}
          {canStop && (
            <Button size="compact-sm" variant="default" loading={stop.isPending} onClick={() => stop.mutate(id)}>
              Stop
            </Button>
          )}
        </Group>
      </Group>
      <Flex
        gap={2}
        h={8}
        bdrs={4}
        bg="var(--idle-wash)"
        style={{ overflow: 'hidden' }}
        role="progressbar"
        aria-label={`Evaluation of version ${version}`}
        aria-valuemin={0}
        aria-valuemax={totals.total}
        aria-valuenow={endedCount}
      >
        {segments.map(({ tone, count }) => (
          <Box key={tone} component="span" data-tone={tone} bg="var(--tone)" flex={`${count} 0 0`} style={GROWS} />
        ))}
        <Box component="span" flex={`${Math.max(0, totals.total - endedCount)} 0 0`} style={GROWS} />
      </Flex>
      <ErrorNotice title="Evaluation not stopped" error={stop.error} />
    </Stack>
  );
}
