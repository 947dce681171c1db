/** A trigger in a request. Triggers are replaced as a whole, so each change repeats the other ones. */
import type { Trigger, Worker, WorkerChange } from '../../shell/api';

type TriggerInput = NonNullable<WorkerChange['triggers']>[number];

/** Converts a trigger to a request's, without the fields that the platform adds. */
function toTriggerInput({ type, cron, timezone, misfire, inputs, signed, on, source_id }: Trigger): TriggerInput {
  switch (type) {
    case 'cron':
      return { type, cron, timezone, misfire, inputs };
    case 'webhook':
      return { type, signed };
    default:
      return { type, on, source_id };
  }
}

const listStoredTriggers = (worker: Worker): Trigger[] => worker.triggers.filter(({ type }) => type !== 'manual');

export const findTrigger = (worker: Worker, type: Trigger['type']): Trigger | undefined =>
  worker.triggers.find((trigger) => trigger.type === type);

/** Replaces the triggers of one type. */
export const replaceTriggers = (worker: Worker, type: Trigger['type'], triggers: Trigger[]): WorkerChange => ({
  triggers: [...listStoredTriggers(worker).filter((one) => one.type !== type), ...triggers].map(toTriggerInput),
});
