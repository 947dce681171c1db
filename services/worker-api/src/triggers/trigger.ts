/** Triggers, which start a worker besides people and clients: how requests write them, and how the API shows them. */
import { formatIssues, invalid, runChecks } from '@gantry/errors';
import type { InputValidator } from '@gantry/program';
import { z } from 'zod';
import type { Worker, WorkerTrigger } from '../generated/prisma/client';
import { type CronInput, cronTrigger, toCronInput } from './cron/cron-trigger';
import { type EventInput, eventTrigger } from './event/event-trigger';
import type { RowContext, TriggerColumns, TriggerType } from './trigger-type';
import { type WebhookInput, webhookTrigger } from './webhook/webhook-trigger';

/** `manual` is none of them: everything can be started by hand. */
export type TriggerInput = CronInput | WebhookInput | EventInput;
type StoredTriggerType = TriggerInput['type'];

/** In the order in which the API lists a worker's triggers; lists show the first type that it has. */
const types = { cron: cronTrigger, webhook: webhookTrigger, event: eventTrigger };
const typeNames = Object.keys(types) as StoredTriggerType[];

/** The part of a worker's body that is about triggers. */
export interface TriggerBody {
  trigger?: unknown;
  triggers?: unknown;
  schedule?: unknown;
}

const TRIGGERS_MAX = Object.values(types).reduce((sum, { max }) => sum + max, 0);

const manual = z.strictObject({ type: z.literal('manual') });
const trigger = z.preprocess(
  expandShorthand,
  z.discriminatedUnion(
    'type',
    [manual, cronTrigger.schema, webhookTrigger.schema, eventTrigger.schema],
    'must be manual, cron, webhook or event',
  ),
);

/** `"webhook"` is short for `{"type": "webhook"}`, `schedule` is another word for `cron`. */
function expandShorthand(value: unknown): unknown {
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
  const presentFields = (['trigger', 'triggers', 'schedule'] as const).filter((name) => body[name] !== undefined);
  const [name, another] = presentFields;
  if (!name) return null;
  if (another) throw invalid([{ path: another, message: `can't be combined with ${name}` }], 'bad_trigger');
  if (body[name] === null) return [];
  if (name === 'trigger') return omitManual([parseTrigger(body.trigger, 'trigger')]);
  if (name === 'schedule') return omitManual([parseTrigger(toCronTrigger(body.schedule), 'schedule')]);
  if (!Array.isArray(body.triggers)) throw invalid([{ path: 'triggers', message: 'must be a list' }], 'bad_trigger');
  if (body.triggers.length > TRIGGERS_MAX + 1) throw createTooManyTriggersError(TRIGGERS_MAX, '');
  const triggers = runChecks(...body.triggers.map((one, index) => () => parseTrigger(one, `triggers.${index}`)));
  const parsed = omitManual(triggers);
  for (const type of typeNames) {
    // Bounded: TRIGGERS_MAX triggers.
    if (parsed.filter((one) => one.type === type).length > types[type].max) {
      throw createTooManyTriggersError(types[type].max, `${type} `);
    }
  }
  return parsed;
}

const createTooManyTriggersError = (max: number, kind: string) =>
  invalid(
    [{ path: 'triggers', message: `can contain at most ${max} ${kind}trigger${max === 1 ? '' : 's'}` }],
    'bad_trigger',
  );

type ManualTrigger = z.infer<typeof manual>;

const omitManual = (parsed: (TriggerInput | ManualTrigger)[]): TriggerInput[] =>
  parsed.filter((one) => one.type !== 'manual');

/** `schedule: "0 9 * * *"`, or an object as in `trigger`, whose type goes without saying. */
const toCronTrigger = (schedule: unknown): unknown =>
  typeof schedule === 'string' ? { type: 'cron', cron: schedule } : { type: 'cron', ...(schedule as object) };

function parseTrigger(value: unknown, path: string): TriggerInput | ManualTrigger {
  const result = trigger.safeParse(value);
  if (!result.success) throw invalid(formatIssues(result.error, [path]), 'bad_trigger');
  return result.data.type === 'cron' ? toCronInput(result.data, path) : result.data;
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

/** Lists the stored webhook and event triggers, as a request would write them. */
export const listNonCronTriggers = (rows: WorkerTrigger[]): TriggerInput[] =>
  rows.flatMap((row) => {
    const type: TriggerType<TriggerInput> = types[row.type];
    return type.toInput?.(row) ?? [];
  });

/** Lists them by type, as in `types`; `manual` where there is none. Never a secret. */
export function triggersToApi({ id: workerId }: Pick<Worker, 'id'>, rows: WorkerTrigger[], baseUrl: string) {
  if (!rows.length) return [{ type: 'manual' as const }];
  // Bounded: the types of triggers.
  return [...rows]
    .sort((a, b) => typeNames.indexOf(a.type) - typeNames.indexOf(b.type) || (a.id < b.id ? -1 : 1))
    .map((row) => types[row.type].toApi(row, { workerId, baseUrl }));
}

/** Returns the type that lists show for a worker's triggers. */
export function getTriggerType(rows: Pick<WorkerTrigger, 'type'>[]): 'manual' | StoredTriggerType {
  const presentTypes = new Set(rows.map(({ type }) => type));
  return typeNames.find((type) => presentTypes.has(type)) ?? 'manual';
}

export const toManifestTrigger = (row: WorkerTrigger) => types[row.type].toManifest(row);

/** Builds the columns of the row, beside its id and its worker. */
export const toTriggerColumns = (trigger: TriggerInput, context: RowContext): TriggerColumns => {
  const type: TriggerType<TriggerInput> = types[trigger.type];
  return type.toColumns(trigger, context);
};

/** Returns when the worker runs next by itself; null: never. */
export const findNextFireTime = (rows: Pick<WorkerTrigger, 'nextRunAt'>[]): Date | null =>
  rows.map(({ nextRunAt }) => nextRunAt).find((at) => at !== null) ?? null;
