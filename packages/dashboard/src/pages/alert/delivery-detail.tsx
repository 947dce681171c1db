import { Box, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { Delivery } from '../../alerts/alert-labels';
import { runPath, workerRunPath } from '../../shell/paths';
import { CopyableCode } from '../../ui/copyable-code';
import { DataTable } from '../../ui/data-table';
import { formatAbsoluteTime, formatDuration } from '../../ui/format';
import type { Column } from '../../ui/table-model';

/** Shows the attempts with the receiver's responses, and the payload. */
export function DeliveryDetail({ delivery, children }: { delivery: Delivery; children: ReactNode }) {
  const { id, attempts, payload } = delivery;
  const run = findRunPath(payload);
  return (
    <Stack gap="md" p="8px 0 16px">
      {attempts.length > 0 && <DataTable label="Attempts" columns={COLUMNS} rows={attempts} getKey={({ at }) => at} />}
      <CopyableCode label={`Payload for ${id}`} code={JSON.stringify(payload, null, 2)} />
      <Group gap="sm">
        {run && <Link to={run}>View run</Link>}
        {children}
      </Group>
    </Stack>
  );
}

/** Returns the path of the run that the payload is about. */
function findRunPath({ data }: Delivery['payload']): string | null {
  if (typeof data !== 'object' || data === null) return null;
  const { run_id, automation_id } = data as Record<string, unknown>;
  if (typeof run_id !== 'string') return null;
  return typeof automation_id === 'string' ? runPath(automation_id, run_id) : workerRunPath(run_id);
}

const COLUMNS: Column<Delivery['attempts'][number]>[] = [
  { head: 'Attempt', cell: ({ at }) => formatAbsoluteTime(Date.parse(at)) },
  {
    head: 'Response',
    cell: ({ status, error, response }) => (
      <>
        {status !== null && !error?.includes(String(status)) && `HTTP ${status} `}
        {error && (
          <Text span className="wrap-anywhere" c="var(--error)">
            {error}
          </Text>
        )}
        {status === null && !error && 'Delivered'}
        {response && (
          <Box component="code" className="pre-wrap wrap-anywhere" display="block" mt={4} c="dimmed">
            {response}
          </Box>
        )}
      </>
    ),
  },
  { head: 'Duration', cell: ({ duration_ms }) => formatDuration(duration_ms), isNumber: true },
];
