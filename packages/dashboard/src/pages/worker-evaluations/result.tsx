import { Group, Stack, Text } from '@mantine/core';
import { type Ref, useState } from 'react';
import { Link } from 'react-router';
import { resultWords } from '../../evaluations/check-words';
import { ResultChip } from '../../evaluations/result-words';
import { OutputJson } from '../../outputs/output-json';
import type { CheckResult, EvaluationResult } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { dollars, duration, figure } from '../../ui/format';
import { CheckIcon, CrossIcon } from '../../ui/icons';
import styles from './evaluation-page.module.css';

interface ResultProps {
  ref?: Ref<HTMLLIElement> | undefined;
  result: EvaluationResult;
  opens: boolean;
}

/** Shows the result of one example, with its checks and output on demand. */
export function Result({ ref, result, opens }: ResultProps) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const { example_name: name, status, run_id: runId, checks, output, error, duration_ms: took, usd } = result;
  const isOpen = chosen ?? opens;
  return (
    <li ref={ref} className={styles.result}>
      <details open={isOpen}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a button of its own kind. */}
        <summary
          className={styles.line}
          onClick={(event) => {
            event.preventDefault();
            setChosen(!isOpen);
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
            {took !== null && <span>{duration(took)}</span>}
            {usd > 0 && <span>{dollars(usd)}</span>}
          </Group>
        </summary>
        {isOpen && (
          <div className={styles.body}>
            {error && <pre className={styles.error}>{error}</pre>}
            {checks.length > 0 && <Checks checks={checks} />}
            {output != null && (
              <div className={styles.output}>
                <h2>Output</h2>
                <OutputJson value={output} />
              </div>
            )}
            {runId !== null && <Link to={workerRunPath(runId)}>Open the run</Link>}
            {runId === null && !error && <Text c="dimmed">It has not started.</Text>}
          </div>
        )}
      </details>
    </li>
  );
}

const Checks = ({ checks }: { checks: CheckResult[] }) => (
  <Stack component="ul" className={styles.checks} gap="xs" aria-label="Checks">
    {checks.map((check, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: checks have no names, and may be alike.
      <li key={at} data-tone={check.passed ? 'success' : 'error'}>
        <span className={styles.sign}>
          {check.passed ? <CheckIcon /> : <CrossIcon />}
          <span className="visually-hidden">{check.passed ? 'Passed' : 'Failed'}</span>
        </span>
        <Text span className="wrap-anywhere">
          {resultWords(check)} {check.path && <code>{check.path}</code>}
        </Text>
        <Text span className={`${styles.message} wrap-anywhere pre-wrap`}>
          {check.message}
        </Text>
        {check.score !== null && (
          <Text span className="tabular-nums" fw={640}>
            {figure(check.score)}
          </Text>
        )}
      </li>
    ))}
  </Stack>
);
