/** A worker's triggers are changed as a whole: the others go along as they are. */
import type { Trigger, Worker, WorkerChange } from '../../shell/api';

type Wanted = NonNullable<WorkerChange['triggers']>[number];

/** A trigger as a request writes it: without the fields that the platform adds. */
function asWanted({ type, cron, timezone, misfire, inputs, signed, on, source_id }: Trigger): Wanted {
  switch (type) {
    case 'cron':
      return { type, cron, timezone, misfire, inputs };
    case 'webhook':
      return { type, signed };
    default:
      return { type, on, source_id };
  }
}

const stored = (worker: Worker): Trigger[] => worker.triggers.filter(({ type }) => type !== 'manual');

export const triggerOf = (worker: Worker, type: Trigger['type']): Trigger | undefined =>
  worker.triggers.find((trigger) => trigger.type === type);

/** The worker's triggers with this one in place of the others of its type; null removes that type. */
export const withTrigger = (worker: Worker, type: 'cron' | 'webhook', trigger: Trigger | null): WorkerChange => ({
  triggers: [...stored(worker).filter((one) => one.type !== type), ...(trigger ? [trigger] : [])].map(asWanted),
});

/** With these events alone. */
export const withEvents = (worker: Worker, events: Trigger[]): WorkerChange => ({
  triggers: [...stored(worker).filter(({ type }) => type !== 'event'), ...events].map(asWanted),
});
