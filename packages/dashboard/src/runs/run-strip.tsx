import type { RunItem } from '../shell/api';
import { duration } from '../ui/format';
import styles from './past-runs.module.css';
import { lookOf } from './run-status';

const RUNS_SHOWN = 40;
const HEIGHT_REM = 3.2;
const SHORTEST = 0.12;

/**
 * The latest runs at a glance: colour is the status, length the duration. The list below says the same in words, so
 * this is one picture to screen readers.
 */
export function RunStrip({ runs, selected }: { runs: RunItem[]; selected: string | null }) {
  const shown = runs.slice(0, RUNS_SHOWN).reverse();
  const longest = Math.max(1, ...shown.map(({ durationMs }) => durationMs ?? 0));
  const failed = shown.filter(({ status }) => status === 'error' || status === 'timeout').length;
  return (
    <div
      className={styles.strip}
      role="img"
      aria-label={`The last ${shown.length} runs: ${failed || 'none'} failed or timed out, the longest took ${duration(longest)}`}
    >
      {shown.map((run) => (
        <span
          key={run.runId}
          className={styles.load}
          data-tone={lookOf(run).tone}
          data-selected={run.runId === selected || undefined}
          style={{ height: `${Math.max(SHORTEST, (run.durationMs ?? 0) / longest) * HEIGHT_REM}rem` }}
        />
      ))}
    </div>
  );
}
