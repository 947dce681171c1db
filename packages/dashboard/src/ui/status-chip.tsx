import type { ReactNode } from 'react';
import styles from './status-chip.module.css';

export type Tone = 'idle' | 'running' | 'success' | 'error' | 'timeout';

export interface StatusDisplay {
  tone: Tone;
  word: string;
  icon: ReactNode;
}

/** Shows a status by colour, icon and label, so that no single one is required. */
export const StatusChip = ({ tone, word, icon }: StatusDisplay) => (
  <span className={styles.chip} data-tone={tone}>
    {icon}
    {word}
  </span>
);

/** Creates the chip of a resource's status. */
export const createStatusChip =
  <Status extends string>(displays: Record<Status, StatusDisplay>) =>
  ({ status }: { status: Status }) => <StatusChip {...displays[status]} />;
