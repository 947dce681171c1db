import { Center } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Candidate } from '../shell/api';
import { CheckIcon, CrossIcon, StopIcon, WaitIcon, WarningIcon } from '../ui/icons';
import type { Tone } from '../ui/status-chip';
import { buildVerdict } from './verdict';
import styles from './verdict-line.module.css';

const ICONS: Record<Tone, () => ReactNode> = {
  success: CheckIcon,
  error: CrossIcon,
  timeout: WarningIcon,
  running: WaitIcon,
  idle: StopIcon,
};

/** Shows the verdict as a headline. */
export function VerdictLine({ candidate, level }: { candidate: Candidate; level: 2 | 3 }) {
  const { tone, words } = buildVerdict(candidate.summary, candidate.origin === 'repair');
  const Heading = `h${level}` as const;
  const Icon = ICONS[tone];
  return (
    <div className={styles.verdict} data-tone={tone} role="status">
      <Center component="span" w="1.75rem" h="1.75rem" bdrs="50%" c="var(--surface)" bg="var(--tone)">
        <Icon />
      </Center>
      <Heading className={styles.words}>{words}</Heading>
    </div>
  );
}
