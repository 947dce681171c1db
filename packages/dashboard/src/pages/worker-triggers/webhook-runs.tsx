import { Box, Group, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { RunStatusChip, toRunStatusDetails } from '../../runs/run-status';
import { useRecentRuns } from '../../runs/use-recent-runs';
import type { Worker } from '../../shell/api';
import { runsPath, workerRunPath } from '../../shell/paths';
import { LoadErrorNotice } from '../../ui/notice';
import { Timestamp } from '../../ui/timestamp';

const RUNS_SHOWN = 10;

/** Lists the last accepted requests. */
export function WebhookRuns({ worker }: { worker: Worker }) {
  const { data: runs, error, refetch } = useRecentRuns(worker.id, { trigger: 'webhook', limit: RUNS_SHOWN });
  if (error && !runs) return <LoadErrorNotice what="Recent requests" error={error} retry={refetch} />;
  return (
    <Stack
      component="section"
      gap="xs"
      pt="md"
      style={{ borderTop: '1px solid var(--line)' }}
      aria-label="Recent requests"
    >
      <h3>Recent accepted requests</h3>
      {runs?.length === 0 && <p className="help-text">No accepted requests yet. Rejected requests aren’t listed.</p>}
      {runs && runs.length > 0 && (
        <Stack component="ol" gap={0}>
          {runs.map((run) => (
            <Group key={run.id} component="li" gap="sm" wrap="nowrap" mih="2.25rem" fz="sm">
              <RunStatusChip {...toRunStatusDetails(run)} />
              <Box component={Link} flex="none" to={workerRunPath(run.id)}>
                <Timestamp at={Date.parse(run.created_at)} />
              </Box>
              <Text component="code" ff="monospace" fz="xs" c="dimmed" truncate>
                {run.input === null ? 'Body too large to show' : JSON.stringify(run.input)}
              </Text>
            </Group>
          ))}
        </Stack>
      )}
      {runs?.length === RUNS_SHOWN && (
        <p>
          <Link to={runsPath({ worker: worker.id, trigger: 'webhook' })}>View all requests</Link>
        </p>
      )}
    </Stack>
  );
}
