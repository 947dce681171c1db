import { Text } from '@mantine/core';
import { formatNumber } from '../../ui/format';
import { Meter } from '../../ui/meter';
import { Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import type { Overview } from './overview-queries';
import { countSlots } from './slots';

/** Shows the load of the installation, over all workspaces. */
export function CapacityPanel({ overview }: { overview: Overview }) {
  const { slots, busy } = countSlots(overview);
  const readyCount = overview.executors.filter(({ state }) => state === 'ready').length;
  if (slots === 0) {
    return (
      <Notice tone="error" title="No executor is ready">
        Runs stay queued until an executor is ready. Ask the operator of this installation to start one.
      </Notice>
    );
  }
  return (
    <Panel title="Capacity">
      <Text fz="sm" c="dimmed">
        <Text component="strong" fz="lg" fw={640} lts="-0.01em" c="bright">
          {formatNumber(busy)} of {formatNumber(slots)}
        </Text>{' '}
        run slots in use
      </Text>
      <Meter mt="xs" share={busy / slots} tone={busy === slots ? 'timeout' : 'accent'} />
      <Text mt="xs" fz="xs" c="dimmed">
        {readyCount === 1 ? 'One executor' : `${formatNumber(readyCount)} executors`}, shared by all workspaces
      </Text>
    </Panel>
  );
}
