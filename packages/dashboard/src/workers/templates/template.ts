import type { WorkerSchemas } from '@gantry/api-client';

type Definition = Pick<WorkerSchemas['NewWorker'], 'inputs' | 'outputs' | 'limits' | 'retry' | 'approvals' | 'tags'>;

type CronTrigger = { type: 'cron'; cron: string };
type EventTrigger = { type: 'event'; on: WorkerSchemas['TriggerEvent'][] };

/** A worker that runs as it is, with the standard library alone. */
export interface WorkerTemplate extends Definition {
  id: string;
  name: string;
  /** What it does, in a sentence. */
  about: string;
  /** None: it is started by hand. A schedule goes by the time zone of whoever makes it. */
  trigger?: CronTrigger | EventTrigger | { type: 'webhook' };
  /** Of its main.py. */
  code: string;
}
