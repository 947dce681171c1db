import styles from './overview-page.module.css';

interface MeterProps {
  /** 0 to 1; more is shown as full. */
  share: number;
  tone: 'accent' | 'timeout' | 'error';
}

/** Draws a decorative bar; the text beside it states the same value. */
export function Meter({ share, tone }: MeterProps) {
  return (
    <span className={styles.meter} data-tone={tone} aria-hidden="true">
      {share > 0 && <span style={{ width: `${Math.min(1, share) * 100}%` }} />}
    </span>
  );
}
