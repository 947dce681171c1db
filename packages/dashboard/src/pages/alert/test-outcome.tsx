import { Box, Stack } from '@mantine/core';
import { ALERT_CHANNELS } from '../../alerts/alert-channels';
import type { AlertTestResult } from '../../alerts/alert-queries';
import { formatDuration } from '../../ui/format';
import { Notice } from '../../ui/notice';

/** Shows a line for each channel: whether the test was delivered, and the receiver's response. */
export function TestOutcome({ outcome: { ok, channels } }: { outcome: AlertTestResult }) {
  return (
    <div role="status">
      <Notice tone={ok ? 'info' : 'error'} title={ok ? 'Test delivered' : 'Test not delivered to every channel'}>
        <Stack component="ul" gap="xs">
          {channels.map((one) => (
            <li key={one.channel}>
              {ALERT_CHANNELS[one.channel].label}: {one.ok ? 'delivered' : (one.error ?? 'rejected')}
              {one.status !== null && !one.error?.includes(String(one.status)) && `, HTTP ${one.status}`} after{' '}
              {formatDuration(one.duration_ms)}
              {one.response && (
                <Box component="code" className="pre-wrap wrap-anywhere" display="block" mt={4} c="dimmed">
                  {one.response}
                </Box>
              )}
            </li>
          ))}
        </Stack>
      </Notice>
    </div>
  );
}
