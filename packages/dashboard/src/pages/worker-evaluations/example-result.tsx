import { Box, Center, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { getCheckResultLabel } from '../../evaluations/check-labels';
import { OutputJson } from '../../outputs/output-json';
import type { CheckResult, EvaluationResult } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { formatNumber } from '../../ui/format';
import { CheckIcon, CrossIcon } from '../../ui/icons';
import styles from './evaluation-page.module.css';

/** Shows the checks and the output of one example. */
export function ExampleResultDetail({ result }: { result: EvaluationResult }) {
  const { run_id: runId, checks, output, error } = result;
  return (
    <Stack gap="md" fz="sm">
      {error && (
        <Box component="pre" className="code-box pre-wrap wrap-anywhere" c="var(--error)" bg="var(--error-wash)">
          {error}
        </Box>
      )}
      {checks.length > 0 && <CheckList checks={checks} />}
      {output != null && (
        <div>
          <Text component="h2" mb={4} fz="xs" fw={600} c="dimmed">
            Output
          </Text>
          <OutputJson value={output} />
        </div>
      )}
      {runId !== null && <Link to={workerRunPath(runId)}>View run</Link>}
      {runId === null && !error && <Text c="dimmed">This example wasn’t run.</Text>}
    </Stack>
  );
}

const CheckList = ({ checks }: { checks: CheckResult[] }) => (
  <Stack component="ul" className={styles.checks} gap="xs" aria-label="Checks">
    {checks.map((check, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: checks have no names, and may be alike.
      <li key={index} data-tone={check.passed ? 'success' : 'error'}>
        <Center component="span" inline h="1.5em" c="var(--tone)">
          {check.passed ? <CheckIcon /> : <CrossIcon />}
          <span className="visually-hidden">{check.passed ? 'Passed' : 'Failed'}</span>
        </Center>
        <Text span className="wrap-anywhere">
          {getCheckResultLabel(check)} {check.path && <code>{check.path}</code>}
        </Text>
        <Text span className={`${styles.message} wrap-anywhere pre-wrap`}>
          {check.message}
        </Text>
        {check.score !== null && (
          <Text span className="tabular-nums" fw={640}>
            {formatNumber(check.score)}
          </Text>
        )}
      </li>
    ))}
  </Stack>
);
