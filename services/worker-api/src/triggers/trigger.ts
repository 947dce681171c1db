/** Triggers, which start a worker besides people and clients: how requests write them, and how the API shows them. */
import { formatIssues, invalid, runChecks } from '@gantry/errors';
import { toApiFields } from '@gantry/http';
import type { InputValidator } from '@gantry/program';
import { checkSchedule, type Misfire } from '@gantry/schedule';
import { z } from 'zod';
import type { Worker, WorkerTrigger } from '../generated/prisma/client';

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

export interface CronInput {
  type: 'cron';
  cron: string;
  timezone: string;
  misfire: Misfire;
  /** Inputs of each scheduled run. */
  inputs: Record<string, unknown>;
  /** Its place in the request: `trigger`, `triggers.1`, `schedule`. */
  path: string;
}

export interface WebhookInput {
  type: 'webhook';
  /** Requests must be signed as Standard Webhooks has it, beside the token. */
  signed: boolean;
}

export interface EventInput {
  type: 'event';
  on: TriggerEvent[];
  /** Only of this worker (slug) or automation (id); null: of the whole workspace, except the worker's own. */
  sourceId: string | null;
}

/** `manual` is none of them: everything can be started by hand. */
export type TriggerInput = CronInput | WebhookInput | EventInput;

/** The part of a worker's body that is about triggers. */
export interface TriggerBody {
  trigger?: unknown;
  triggers?: unknown;
  schedule?: unknown;
}

const EVENTS_MAX = 10;
const TRIGGERS_MAX = 1 + 1 + EVENTS_MAX;
const INPUTS_CHARS_MAX = 65_536;

const cron = z.strictObject({
  type: z.literal('cron'),
  cron: z.string().max(200),
  timezone: z.string().max(100).default('UTC'),
  misfire: z.enum(['skip', 'fire_once', 'catch_up']).default('fire_once'),
  inputs: z
    .record(z.string(), z.unknown())
    .refine((inputs) => JSON.stringify(inputs).length <= INPUTS_CHARS_MAX, 'is larger than 64 KB')
    .default({}),
});

const webhook = z.strictObject({ type: z.literal('webhook'), signed: z.boolean().default(false) });

const event = z
  .strictObject({
    type: z.literal('event'),
    on: z.array(z.enum(triggerEvents)).min(1).max(triggerEvents.length),
    source_id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be the id of a worker or an automation')
      .nullable()
      .default(null),
  })
  .transform(({ source_id, on, type }): EventInput => ({ type, on: [...new Set(on)], sourceId: source_id }));

const manual = z.strictObject({ type: z.literal('manual') });

const trigger = z.preprocess(
  spelt,
  z.discriminatedUnion('type', [manual, cron, webhook, event], 'must be manual, cron, webhook or event'),
);

/** `"webhook"` is short for `{"type": "webhook"}`, `schedule` is another word for `cron`. */
function spelt(value: unknown): unknown {
  if (typeof value === 'string') return { type: value };
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const { schedule, ...rest } = value as Record<string, unknown>;
  return {
    ...rest,
    ...(rest.type === 'schedule' && { type: 'cron' }),
    ...(schedule !== undefined && { cron: schedule }),
  };
}

/**
 * @returns null where the body says nothing about triggers, so that they stay as they are; an empty list is `manual`
 * @throws AppError 400 naming each place, like `trigger.cron` or `triggers.1.timezone`
 */
export function parseTriggers(body: TriggerBody): TriggerInput[] | null {
  const given = (['trigger', 'triggers', 'schedule'] as const).filter((name) => body[name] !== undefined);
  const [name, another] = given;
  if (!name) return null;
  if (another) throw invalid([{ path: another, message: `can't be given together with ${name}` }], 'bad_trigger');
  if (body[name] === null) return [];
  if (name === 'trigger') return onlyStored([parseOne(body.trigger, 'trigger')]);
  if (name === 'schedule') return onlyStored([parseOne(asCron(body.schedule), 'schedule')]);
  if (!Array.isArray(body.triggers)) throw invalid([{ path: 'triggers', message: 'must be a list' }], 'bad_trigger');
  if (body.triggers.length > TRIGGERS_MAX + 1) throw tooMany(TRIGGERS_MAX, '');
  const parsed = onlyStored(runChecks(...body.triggers.map((one, index) => () => parseOne(one, `triggers.${index}`))));
  for (const [type, max] of [['cron', 1] as const, ['webhook', 1] as const, ['event', EVENTS_MAX] as const]) {
    if (parsed.filter((one) => one.type === type).length > max) throw tooMany(max, `${type} `);
  }
  return parsed;
}

const tooMany = (max: number, kind: string) =>
  invalid(
    [{ path: 'triggers', message: `may have at most ${max} ${kind}trigger${max === 1 ? '' : 's'}` }],
    'bad_trigger',
  );

type Manual = z.infer<typeof manual>;

const onlyStored = (parsed: (TriggerInput | Manual)[]): TriggerInput[] => parsed.filter((one) => one.type !== 'manual');

/** `schedule: "0 9 * * *"`, or an object as in `trigger`, whose type goes without saying. */
const asCron = (schedule: unknown): unknown =>
  typeof schedule === 'string' ? { type: 'cron', cron: schedule } : { type: 'cron', ...(schedule as object) };

function parseOne(value: unknown, path: string): TriggerInput | Manual {
  const result = trigger.safeParse(value);
  if (!result.success) throw invalid(formatIssues(result.error, [path]), 'bad_trigger');
  const parsed = result.data;
  if (parsed.type !== 'cron') return parsed;
  checkSchedule(parsed, { cron: `${path}.cron`, timezone: `${path}.timezone` });
  return { ...parsed, cron: parsed.cron.trim(), path };
}

/**
 * Refuses a schedule whose runs would be refused for their inputs. A worker that declares none takes any.
 * @throws AppError 400 `invalid_inputs` naming each, like `trigger.inputs.who`
 */
export function checkTriggerInputs(triggers: TriggerInput[], inputs: InputValidator): void {
  const scheduled = triggers.find((one) => one.type === 'cron');
  if (!scheduled || !Object.keys(inputs.schema.properties).length) return;
  const problems = inputs
    .listProblems(scheduled.inputs)
    .map(({ path, message }) => ({ path: `${scheduled.path}.${path}`, message }));
  if (problems.length) throw invalid(problems, 'invalid_inputs');
}

/** The stored webhook and event triggers, as a request would write them. */
export const triggersBesideCron = (rows: WorkerTrigger[]): TriggerInput[] =>
  rows.flatMap((row): TriggerInput[] => {
    if (row.type === 'cron') return [];
    if (row.type === 'webhook') return [{ type: 'webhook', signed: row.webhookSigningKey !== null }];
    return [{ type: 'event', on: row.on as TriggerEvent[], sourceId: row.sourceId }];
  });

type ShownWorker = Pick<Worker, 'id'>;

/**
 * In the order cron, webhook, event; `manual` where there is none. Never a secret: the address is without its token.
 */
export function triggersToApi(worker: ShownWorker, rows: WorkerTrigger[], baseUrl: string) {
  if (!rows.length) return [{ type: 'manual' as const }];
  const order = { cron: 0, webhook: 1, event: 2 };
  return [...rows]
    .sort((a, b) => order[a.type] - order[b.type] || (a.id < b.id ? -1 : 1))
    .map((row) => triggerToApi(worker, row, baseUrl));
}

function triggerToApi(worker: ShownWorker, row: WorkerTrigger, baseUrl: string) {
  switch (row.type) {
    case 'cron':
      return {
        ...toApiFields(row, 'type', 'cron', 'timezone', 'misfire', 'inputs'),
        ...toApiFields(row, 'nextRunAt', 'lastScheduledAt', 'missedFires'),
      };
    case 'webhook':
      return {
        type: 'webhook' as const,
        webhook_url: webhookUrl(baseUrl, worker.id),
        signed: row.webhookSigningKey !== null,
      };
    case 'event':
      return { type: 'event' as const, on: row.on, source_id: row.sourceId };
  }
}

/** The type that lists show for a worker's triggers. */
export function getTriggerType(rows: Pick<WorkerTrigger, 'type'>[]): 'manual' | WorkerTrigger['type'] {
  const types = new Set(rows.map(({ type }) => type));
  return (['cron', 'webhook', 'event'] as const).find((type) => types.has(type)) ?? 'manual';
}

/** When the worker runs next by itself; null: never. */
export const getNextRunAt = (rows: Pick<WorkerTrigger, 'nextRunAt'>[]): Date | null =>
  rows.map(({ nextRunAt }) => nextRunAt).find((at) => at !== null) ?? null;

export const webhookUrl = (baseUrl: string, workerId: string): string => `${baseUrl}/api/webhooks/${workerId}`;
