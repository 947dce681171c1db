/** What started a run, in words; both surfaces. */
import type { RunItem, WorkerRun } from '../shell/api';
import { figure } from '../ui/format';

export const TRIGGER_WORDS: Record<WorkerRun['trigger'] | RunItem['trigger'], string> = {
  api: 'API',
  webhook: 'Webhook',
  schedule: 'Schedule',
  event: 'Event',
  call: 'Another run',
  replay: 'Replay',
  test: 'Test of a draft',
  page: 'Its page',
  link: 'Shared link',
};

export const dollars = (usd: number): string =>
  usd > 0 && usd < 0.0001 ? 'less than $0.0001' : `$${figure(Number(usd.toFixed(4)))}`;
