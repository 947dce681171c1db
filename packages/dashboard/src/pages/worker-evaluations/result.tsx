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

/** Of one example: its chip in the line, its checks and output below. */
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
          <span className={styles.name}>{name}</span>
          <span className={styles.facts}>
            {took !== null && <span>{duration(took)}</span>}
            {usd > 0 && <span>{dollars(usd)}</span>}
          </span>
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
            {runId === null && !error && <p className={styles.soft}>It has not begun.</p>}
          </div>
        )}
      </details>
    </li>
  );
}

const Checks = ({ checks }: { checks: CheckResult[] }) => (
  <ul className={styles.checks} aria-label="Checks">
    {checks.map((check, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: checks have no names, and may be alike.
      <li key={at} data-tone={check.passed ? 'success' : 'error'}>
        <span className={styles.sign}>
          {check.passed ? <CheckIcon /> : <CrossIcon />}
          <span className="visually-hidden">{check.passed ? 'Passed' : 'Failed'}</span>
        </span>
        <span className={styles.kind}>
          {resultWords(check)} {check.path && <code>{check.path}</code>}
        </span>
        <span className={styles.message}>{check.message}</span>
        {check.score !== null && <span className={styles.score}>{figure(check.score)}</span>}
      </li>
    ))}
  </ul>
);
