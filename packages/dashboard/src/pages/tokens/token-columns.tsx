import { Box } from '@mantine/core';
import { buildTimeColumn } from '../../ui/time-column';

/** @param prefix the part of its value that may be shown */
export const TokenName = ({ name, prefix }: { name: string; prefix: string }) => (
  <>
    {name}{' '}
    <Box component="code" fw={400} c="dimmed">
      {prefix}…
    </Box>
  </>
);

export const LAST_USED_COLUMN = buildTimeColumn<{ last_used_at: string | null }>(
  'Last used',
  ({ last_used_at }) => last_used_at,
  { none: 'Never' },
);
