import type { ReactNode } from 'react';
import styles from './status-chip.module.css';

export type Tone = 'idle' | 'running' | 'success' | 'error' | 'timeout';

/** Shows a status by colour, icon and label, so that no single one is required. */
export function StatusChip({ tone, icon, children }: { tone: Tone; icon: ReactNode; children: ReactNode }) {
  return (
    <span className={styles.chip} data-tone={tone}>
      {icon}
      {children}
    </span>
  );
}

export interface StatusDisplay {
  tone: Tone;
  word: string;
  icon: ReactNode;
}

/** Shows the chip of a status from a table of looks. */
export const LabeledStatusChip = ({ tone, word, icon }: StatusDisplay) => (
  <StatusChip tone={tone} icon={icon}>
    {word}
  </StatusChip>
);
