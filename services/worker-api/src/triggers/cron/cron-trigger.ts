import { buildWorkspaceClosedSql } from '@gantry/events';
import { toApiFields } from '@gantry/http';
import { checkSchedule, findNextFire } from '@gantry/schedule';
import { z } from 'zod';
import type { Prisma, Worker } from '../../generated/prisma/client';
import type { TriggerType } from '../trigger-type';

const INPUTS_CHARS_MAX = 65_536;

const schema = z.strictObject({
  type: z.literal('cron'),
  cron: z.string().max(200),
  timezone: z.string().max(100).default('UTC'),
  misfire: z.enum(['skip', 'fire_once', 'catch_up']).default('fire_once'),
  inputs: z
    .record(z.string(), z.unknown())
    .refine((inputs) => JSON.stringify(inputs).length <= INPUTS_CHARS_MAX, 'is larger than 64 KB')
    .default({}),
});

type ParsedCron = z.infer<typeof schema>;

/** `path`: its place in the request: `trigger`, `triggers.1`, `schedule`. */
export type CronInput = ParsedCron & { path: string };

/** @throws AppError 400 naming `<path>.cron` or `<path>.timezone` */
export function toCronInput(parsed: ParsedCron, path: string): CronInput {
  checkSchedule(parsed, { cron: `${path}.cron`, timezone: `${path}.timezone` });
  return { ...parsed, cron: parsed.cron.trim(), path };
}

type Schedule = { [Key in 'cron' | 'timezone']: string | null };

/** Finds the next fire; null while the worker is not active. */
export const findNextRunAt = ({ cron, timezone }: Schedule, status: Worker['status'], now: Date): Date | null =>
  status === 'active' ? findNextFire({ cron: String(cron), timezone: String(timezone) }, now) : null;

export const cronTrigger = {
  max: 1,
  schema,
  toColumns({ type, cron, timezone, misfire, inputs }, { status, before, now }) {
    const isSame = before !== undefined && before.cron === cron && before.timezone === timezone;
    const keptRunAt = isSame && status === 'active' ? before.nextRunAt : null;
    return {
      type,
      cron,
      timezone,
      misfire,
      on: [],
      inputs: inputs as Prisma.InputJsonObject,
      nextRunAt: keptRunAt ?? findNextRunAt({ cron, timezone }, status, now),
      ...(isSame && { lastScheduledAt: before.lastScheduledAt, missedFires: before.missedFires }),
    };
  },
  toApi: (row) => ({
    ...toApiFields(row, 'type', 'cron', 'timezone', 'misfire', 'inputs'),
    ...toApiFields(row, 'nextRunAt', 'lastScheduledAt', 'missedFires'),
  }),
  toManifest({ type, cron, timezone, misfire, inputs }) {
    const hasInputs = Object.keys((inputs as object | null) ?? {}).length > 0;
    return { type, cron, timezone, misfire, ...(hasInputs && { inputs }) };
  },
} satisfies TriggerType<CronInput>;

/** When the next trigger is due. */
export const TRIGGERS_DUE_AT = `(SELECT t.next_run_at FROM worker_triggers t
  WHERE t.next_run_at IS NOT NULL AND NOT ${buildWorkspaceClosedSql('t.workspace_id')} ORDER BY t.next_run_at LIMIT 1)`;
