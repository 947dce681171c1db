import { formatDuration } from '../../ui/format';
import styles from './timeline.module.css';

/** Epoch milliseconds at the two ends of the axis. */
export interface Span {
  from: number;
  to: number;
}

const TICKS = [0, 0.25, 0.5, 0.75, 1];

export const toPercent = ({ from, to }: Span, at: number): number =>
  Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100));

/** Purely visual: each row has its times as text. */
export function Axis({ span }: { span: Span }) {
  return (
    <div className={styles.axis} aria-hidden="true">
      <div className={styles.ticks}>
        {TICKS.map((tick) => (
          <span key={tick} className={styles.tick} style={{ left: `${tick * 100}%` }}>
            {tick === 0 ? '0' : formatDuration((span.to - span.from) * tick)}
          </span>
        ))}
      </div>
    </div>
  );
}
