import { Box, Center, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Candidate } from '../shell/api';
import { CheckIcon, CrossIcon, StopIcon, WaitIcon, WarningIcon } from '../ui/icons';
import type { Tone } from '../ui/status-chip';
import { buildVerdict } from './verdict';

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
    <Group gap="sm" wrap="nowrap" p="12px 16px" bdrs={8} bg="var(--tone-wash)" data-tone={tone} role="status">
      <Center component="span" flex="none" w="1.75rem" h="1.75rem" bdrs="50%" c="var(--surface)" bg="var(--tone)">
        <Icon />
      </Center>
      <Box component={Heading} fz="lg" fw={640} lh={1.35} c="bright">
        {words}
      </Box>
    </Group>
  );
}
