import { Stack } from '@mantine/core';
import type { Worker } from '../../shell/api';
import { WorkerLayout } from '../../workers/worker-layout';
import { EventsPanel } from './events-panel';
import { SchedulePanel } from './schedule-panel';
import { WebhookPanel } from './webhook-panel';

/** Edits a worker's automatic triggers: schedule, webhook and events. */
export default function WorkerTriggersPage() {
  return <WorkerLayout tab="Triggers">{(worker) => <TriggerPanels key={worker.id} worker={worker} />}</WorkerLayout>;
}

const TriggerPanels = ({ worker }: { worker: Worker }) => (
  <Stack gap="lg">
    <SchedulePanel worker={worker} />
    <WebhookPanel worker={worker} />
    <EventsPanel worker={worker} />
  </Stack>
);
