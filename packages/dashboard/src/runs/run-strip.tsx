import { formatDuration } from '../ui/format';
import styles from './past-runs.module.css';
import { getRunStatusDisplay, type RunStatusDetails } from './run-status';

const RUNS_SHOWN = 40;
const MIN_BAR_SHARE = 0.12;
const COLORS = {
  idle: 'var(--line-strong)',
  running: 'var(--accent)',
  success: 'color-mix(in srgb, var(--success) 55%, var(--surface))',
  error: 'var(--error)',
  timeout: 'var(--load)',
} as const;

interface StripRun extends RunStatusDetails {
  runId: string;
  durationMs: number | null;
}

interface RunStripProps {
  /** Newest first. */
  runs: readonly StripRun[];
  selected?: string | null;
  /** Drawn in a line of a list, instead of above a list of its own. */
  small?: boolean;
}

/**
 * The latest runs at a glance: colour is the status, length the duration. The list below has the same as text, so
 * this is one picture to screen readers.
 */
export function RunStrip({ runs, selected = null, small = false }: RunStripProps) {
  const shown = runs.slice(0, RUNS_SHOWN).reverse();
  const longest = Math.max(1, ...shown.map(({ durationMs }) => durationMs ?? 0));
  const tones = shown.map((run) => getRunStatusDisplay(run).tone);
  const failed = tones.filter((tone) => tone === 'error' || tone === 'timeout').length;
  return (
    <div
      className={small ? styles.smallStrip : styles.strip}
      role="img"
      aria-label={
        shown.length === 1
          ? `Last run: ${failed ? 'failed or timed out' : 'didn’t fail or time out'}; took ${formatDuration(longest)}`
          : `Last ${shown.length} runs: ${failed || 'none'} failed or timed out; the longest took ${formatDuration(longest)}`
      }
    >
      {shown.map((run, at) => (
        <span
          key={run.runId}
          className={styles.load}
          data-selected={run.runId === selected || undefined}
          style={{
            height: `${Math.max(MIN_BAR_SHARE, (run.durationMs ?? 0) / longest) * 100}%`,
            background: COLORS[tones[at] ?? 'idle'],
          }}
        />
      ))}
    </div>
  );
}
