/** Labels of the triggers of runs of both surfaces. */
import type { RunItem, WorkerRun } from '../shell/api';

export const TRIGGER_LABELS: Record<WorkerRun['trigger'] | RunItem['trigger'], string> = {
  api: 'API',
  webhook: 'Webhook',
  schedule: 'Schedule',
  event: 'Event',
  call: 'Another run',
  replay: 'Replay',
  test: 'Draft test',
  rehearsal: 'Rehearsal',
  page: 'Page',
  link: 'Shared link',
};
