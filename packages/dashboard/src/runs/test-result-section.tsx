import { Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatDuration } from '../ui/format';

interface TestResultSectionProps {
  chip: ReactNode;
  durationMs: number | null | undefined;
  /** Read out at the end of the test. */
  announcement: string | false;
  actions?: ReactNode;
  children: ReactNode;
}

/** Frames the result of a test beside the code. */
export const TestResultSection = ({ chip, durationMs, announcement, actions, children }: TestResultSectionProps) => (
  <Stack component="section" gap="md" pt="md" style={{ borderTop: '1px solid var(--line)' }} aria-label="Test result">
    <Group gap="8px 12px" fz="sm" c="dimmed">
      {chip}
      {durationMs != null && <span>in {formatDuration(durationMs)}</span>}
      {actions}
      <span className="visually-hidden" role="status">
        {announcement}
      </span>
    </Group>
    {children}
  </Stack>
);
