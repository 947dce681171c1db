import { Box, Group, Stack, Text } from '@mantine/core';
import { type Ref, useState } from 'react';
import { Link } from 'react-router';
import { checkResultLabel } from '../../evaluations/check-labels';
import { ResultChip } from '../../evaluations/result-labels';
import { OutputJson } from '../../outputs/output-json';
import type { CheckResult, EvaluationResult } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { formatDollars, formatDuration, formatNumber } from '../../ui/format';
import { CheckIcon, CrossIcon } from '../../ui/icons';
import styles from './evaluation-page.module.css';

interface ExampleResultProps {
  ref?: Ref<HTMLLIElement> | undefined;
  result: EvaluationResult;
  isOpenByDefault: boolean;
}

/** Shows the result of one example, with its checks and output on demand. */
export function ExampleResult({ ref, result, isOpenByDefault }: ExampleResultProps) {
  const [toggled, setToggled] = useState<boolean | null>(null);
  const { example_name: name, status, run_id: runId, checks, output, error, duration_ms: durationMs, usd } = result;
  const isOpen = toggled ?? isOpenByDefault;
  return (
    <li ref={ref} className={styles.result}>
      <details open={isOpen}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a button of its own kind. */}
        <summary
          className={styles.line}
          onClick={(event) => {
            event.preventDefault();
            setToggled(!isOpen);
          }}
        >
          <ResultChip status={status} />
          <Text span className={`${styles.name} wrap-anywhere`} fw={640}>
            {name}
          </Text>
          <Group
            component="span"
            className={`${styles.facts} tabular-nums nowrap`}
            gap="sm"
            align="stretch"
            wrap="nowrap"
            fz="sm"
            c="dimmed"
          >
            {durationMs !== null && <span>{formatDuration(durationMs)}</span>}
            {usd > 0 && <span>{formatDollars(usd)}</span>}
          </Group>
        </summary>
        {isOpen && (
          <Stack className={styles.body} gap="md" fz="sm">
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
            {runId !== null && <Link to={workerRunPath(runId)}>Open the run</Link>}
            {runId === null && !error && <Text c="dimmed">Not started.</Text>}
          </Stack>
        )}
      </details>
    </li>
  );
}

const CheckList = ({ checks }: { checks: CheckResult[] }) => (
  <Stack component="ul" className={styles.checks} gap="xs" aria-label="Checks">
    {checks.map((check, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: checks have no names, and may be alike.
      <li key={index} data-tone={check.passed ? 'success' : 'error'}>
        <span className={styles.sign}>
          {check.passed ? <CheckIcon /> : <CrossIcon />}
          <span className="visually-hidden">{check.passed ? 'Passed' : 'Failed'}</span>
        </span>
        <Text span className="wrap-anywhere">
          {checkResultLabel(check)} {check.path && <code>{check.path}</code>}
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
