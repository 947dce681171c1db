import { Stack } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { WorkerFrame } from '../../workers/worker-frame';
import { EventsPanel } from './events-panel';
import { SchedulePanel } from './schedule-panel';
import { WebhookPanel } from './webhook-panel';

/** Edits a worker's automatic triggers: schedule, webhook and events. */
export default function WorkerTriggersPage() {
  return <WorkerFrame tab="Triggers">{(worker) => <TriggerPanels key={worker.id} worker={worker} />}</WorkerFrame>;
}

const TriggerPanels = ({ worker }: { worker: Worker }) => (
  <Stack gap="lg">
    <SchedulePanel worker={worker} />
    <WebhookPanel worker={worker} />
    <EventsPanel worker={worker} />
  </Stack>
);
