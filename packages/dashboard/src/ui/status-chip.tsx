import type { ReactNode } from 'react';
import styles from './status-chip.module.css';

export type Tone = 'idle' | 'running' | 'success' | 'error' | 'timeout';

/** Colour, shape and word say the same, so that none of them is needed. */
export function StatusChip({ tone, icon, children }: { tone: Tone; icon: ReactNode; children: ReactNode }) {
  return (
    <span className={styles.chip} data-tone={tone}>
      {icon}
      {children}
    </span>
  );
}
