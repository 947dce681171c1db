import { hasRow, type Sql } from '@gantry/postgres';
import { z } from 'zod';
import type { TriggerType } from '../trigger-type';

/** Events that a trigger may wait for. */
export const triggerEvents = [
  'run.completed',
  'run.failed',
  'run.timed_out',
  'run.cancelled',
  'alert.raised',
  'approval.requested',
  'schedule.missed',
] as const;
export type TriggerEvent = (typeof triggerEvents)[number];

const schema = z
  .strictObject({
    type: z.literal('event'),
    on: z.array(z.enum(triggerEvents)).min(1).max(triggerEvents.length),
    source_id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be the id of a worker or an automation')
      .nullable()
      .default(null),
  })
  .transform(({ source_id, on, type }) => ({ type, on: [...new Set(on)], sourceId: source_id }));

/** `sourceId`: a worker (slug) or an automation (id); null: the whole workspace, except the worker itself. */
export type EventInput = z.infer<typeof schema>;

export const eventTrigger = {
  max: 10,
  schema,
  toColumns: ({ type, on, sourceId }) => ({ type, on, sourceId }),
  toInput: ({ on, sourceId }) => ({ type: 'event', on: on as TriggerEvent[], sourceId }),
  toApi: ({ on, sourceId }) => ({ type: 'event' as const, on, source_id: sourceId }),
  toManifest: ({ type, on, sourceId }) => ({ type, on, ...(sourceId !== null && { source_id: sourceId }) }),
} satisfies TriggerType<EventInput>;

/** Most workspaces wait for nothing: one look into an index then is all that an event costs. */
export const hasEventTrigger = (sql: Sql, workspaceId: string, type: TriggerEvent): Promise<boolean> =>
  hasRow(sql, `SELECT 1 FROM worker_triggers WHERE workspace_id = $1 AND type = 'event' AND $2 = ANY ("on") LIMIT 1`, [
    workspaceId,
    type,
  ]);

/** Query: workspaces with a trigger that waits for an event. */
export const WORKSPACES_WITH_TRIGGERS = "SELECT workspace_id FROM worker_triggers WHERE type = 'event'";
