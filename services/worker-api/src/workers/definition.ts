/**
 * Defines the part of a worker that is versioned beside its files: how it runs. Stored with all shorthands spelt out
 * and all defaults.
 */
import { isDeepStrictEqual } from 'node:util';
import { findPathProblem } from '@gantry/archive';
import { type FieldProblem, formatIssues, invalid } from '@gantry/errors';
import {
  checkDefaults,
  dependencyNames,
  inputItems,
  isolation,
  normalizeIsolation,
  outputItems,
  secretNames,
} from '@gantry/program';
import { z } from 'zod';
import { agentFields, EMPTY_AGENT_FIELDS, listAgentProblems, SKILL, toJobAgent } from './agent-definition';
import { listSkillListProblems } from './agent-skills';
import { networkRule } from './network';
import { SLUG } from './slug';

const DEFINITION_CHARS_MAX = 256 * 1024;
/** NUL and halves of characters: `json` columns take them, and every query that looks into such a value fails. */
const UNREADABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;
const RUNNERS = ['python', 'agent'] as const;

const limits = z.strictObject({
  /** Wall clock of an attempt; what a suspended run waits does not count. */
  timeout_seconds: z.int().min(1).max(3_600).default(300),
  memory_mb: z.int().min(64).max(2_048).default(512),
  /** Concurrent runs; null: as many as the executors take. */
  concurrency: z.int().min(1).max(100).nullable().default(null),
  /** An input: `concurrency` then counts runs with the same value of it. */
  concurrency_key: z.string().max(64).nullable().default(null),
  /** Higher goes first among the workspace's queued runs. */
  priority: z.int().min(-100).max(100).default(0),
  runs_per_minute: z.int().min(1).max(6_000).nullable().default(null),
  budget_usd_per_month: z.number().min(0).max(1_000_000).nullable().default(null),
});

const retry = z.strictObject({
  /** The first one counts: 1 is no retry. */
  max_attempts: z.int().min(1).max(20).default(1),
  backoff_seconds: z.number().min(0).max(86_400).default(10),
  backoff: z.enum(['fixed', 'exponential']).default('exponential'),
  max_backoff_seconds: z.number().min(1).max(86_400).default(3_600),
});

const approvals = z.strictObject({
  /** Every run is held until a person approves it. */
  required: z.boolean().default(false),
  /** The person who started a run may not approve it. */
  forbid_self: z.boolean().default(false),
  expires_in_seconds: z.int().min(60).max(2_592_000).default(604_800),
  /** Each approval has a link by which a person without an account may decide. */
  public_links: z.boolean().default(true),
});

const appName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
    'must be the name of a connection app, such as "github": letters, digits, ., _ and - only',
  );
const contextName = z.string().regex(SLUG, 'must be a context name, such as "price-list"');
const dedupe = (names: string[]) => [...new Set(names)];
const NAMES_MAX = 50;
const CREDENTIALS_NAMED_MAX = 100;

const CODE = 'main.py';

export const getDefaultEntrypoint = (runner: unknown): string => (runner === 'agent' ? SKILL : CODE);

/** All that an agent does is on record, so that trying again repeats nothing: also where it is not asked for. */
const AGENT_RETRY = { max_attempts: 5, backoff_seconds: 2 };

const getDefaults = (runner: unknown): DefinitionInput => ({
  entrypoint: getDefaultEntrypoint(runner),
  ...(runner === 'agent' && { retry: AGENT_RETRY }),
});

/** The fields that a request or a worker.yaml has for it. */
const definitionFields = {
  runner: z.enum(RUNNERS).default('python'),
  entrypoint: z.string().max(1_024).default(CODE),
  inputs: inputItems.default([]),
  outputs: outputItems.default([]),
  secrets: secretNames.default([]),
  connections: z.array(appName).max(NAMES_MAX).transform(dedupe).default([]),
  contexts: z.array(contextName).max(NAMES_MAX).transform(dedupe).default([]),
  python_dependencies: dependencyNames.default([]),
  limits: limits.prefault({}),
  retry: retry.prefault({}),
  approvals: approvals.prefault({}),
  isolation,
  network: networkRule.prefault('public'),
  /** Declared connections and secrets whose values code itself gets, instead of placeholders. */
  expose: z.array(z.string()).max(CREDENTIALS_NAMED_MAX).transform(dedupe).default([]),
  /** Those whose placeholders are replaced in the bodies of requests, too. */
  in_body: z.array(z.string()).max(CREDENTIALS_NAMED_MAX).transform(dedupe).default([]),
  /** Reaction to a run that fails for good: `propose_repair` lets a model write a candidate. */
  on_failure: z.enum(['none', 'propose_repair']).default('none'),
  ...agentFields,
};

const definition = z.strictObject(definitionFields);

export type Definition = z.output<typeof definition> & {
  /** The file whose list `python_dependencies` is; null: the worker declares it itself. */
  dependencies_source: string | null;
};

/** The values of fields that earlier versions lack. */
const DEFAULTS_FOR_OLD_VERSIONS = {
  network: 'public',
  expose: [],
  in_body: [],
  on_failure: 'none',
  dependencies_source: null,
  ...EMPTY_AGENT_FIELDS,
} satisfies Partial<Definition>;

/** As a version's row has it. */
export function parseStoredDefinition(stored: unknown): Definition {
  const definition = { ...DEFAULTS_FOR_OLD_VERSIONS, ...(stored as Definition) };
  return { ...definition, isolation: normalizeIsolation(definition.isolation) };
}

/** The part that names a version: a field that says no more than its absence did makes no other version. */
export function toNamedDefinition(definition: Definition): Record<string, unknown> {
  const isStated = ([field, value]: [string, unknown]) =>
    !Object.hasOwn(DEFAULTS_FOR_OLD_VERSIONS, field) ||
    !isDeepStrictEqual(value, DEFAULTS_FOR_OLD_VERSIONS[field as keyof typeof DEFAULTS_FOR_OLD_VERSIONS]);
  const named = Object.fromEntries(Object.entries(definition).filter(isStated));
  // The name that versions with the same content have had.
  return definition.isolation === 'warm' ? { ...named, isolation: 'zygote' } : named;
}

/** Builds the agent of a job; null: the worker is no agent. */
export const buildJobAgent = (definition: Definition) =>
  definition.runner === 'agent' ? toJobAgent(definition, definition.entrypoint, definition) : null;

type DefinitionField = keyof typeof definitionFields;

export const DEFINITION_FIELDS = Object.keys(definitionFields) as DefinitionField[];

/** As a request writes it; what is absent stays or gets its default. */
export type DefinitionInput = { [Field in DefinitionField]?: unknown };

/** @throws AppError 400 naming each place that is wrong */
export function parseDefinition(input: DefinitionInput): Definition {
  if (JSON.stringify(input).length > DEFINITION_CHARS_MAX) {
    throw invalid([
      { path: 'inputs', message: `the worker's definition is larger than ${DEFINITION_CHARS_MAX / 1024} KB` },
    ]);
  }
  const field = Object.entries(input).find(([, value]) => UNREADABLE.test(JSON.stringify(value) ?? ''))?.[0];
  if (field) {
    const message = 'contains NUL or an unpaired surrogate (half of a character)';
    throw invalid([{ path: field, message }], 'bad_worker');
  }
  const parsed = definition.safeParse({ ...getDefaults(input.runner), ...input });
  if (!parsed.success) throw invalid(formatIssues(parsed.error), 'bad_worker');
  const complete = { ...parsed.data, dependencies_source: null };
  const problems = listCrossFieldProblems(complete);
  if (problems.length) throw invalid(problems, 'bad_worker');
  return complete;
}

function listCrossFieldProblems(definition: Definition): FieldProblem[] {
  const { inputs, limits, entrypoint, runner } = definition;
  const problems = [...checkDefaults(inputs, 'inputs'), ...listUndeclaredProblems(definition)];
  const { concurrency, concurrency_key: key } = limits;
  if (key !== null && !inputs.some(({ name }) => name === key)) {
    problems.push({ path: 'limits.concurrency_key', message: `there is no input "${key}"` });
  }
  if (key !== null && concurrency === null) {
    problems.push({ path: 'limits.concurrency', message: 'is required when concurrency_key is set' });
  }
  const wrong = entrypoint.endsWith('/') ? 'is a directory' : findPathProblem(entrypoint);
  if (wrong) problems.push({ path: 'entrypoint', message: `"${entrypoint.slice(0, 200)}" ${wrong}` });
  else if (!entrypoint.endsWith(runner === 'agent' ? '.md' : '.py')) {
    const wanted = runner === 'agent' ? `a Markdown file, like ${SKILL}` : 'a Python file, like main.py or src/main.py';
    problems.push({ path: 'entrypoint', message: `must name ${wanted}` });
  }
  return runner === 'agent'
    ? [
        ...problems,
        ...listAgentProblems(definition, definition),
        ...listSkillListProblems(definition.skills, entrypoint),
      ]
    : [...problems, ...listAgentOnlyProblems(definition)];
}

const { budget_usd: _, ...emptyAgentOnlyFields } = EMPTY_AGENT_FIELDS;

const listAgentOnlyProblems = (definition: Definition): FieldProblem[] =>
  Object.entries(emptyAgentOnlyFields)
    .filter(([field, empty]) => !isDeepStrictEqual(definition[field as keyof Definition], empty))
    .map(([path]) => ({ path, message: 'is only for agents (runner: "agent")' }));

const listUndeclaredProblems = (definition: Definition): FieldProblem[] =>
  (['expose', 'in_body'] as const).flatMap((field) =>
    definition[field].flatMap((name, index) => {
      // Bounded: 100 names (CREDENTIALS_NAMED_MAX) among 50 secrets and 50 connections (NAMES_MAX).
      if (definition.secrets.includes(name) || definition.connections.includes(name)) return [];
      const message = `"${name.slice(0, 100)}" is not one of the worker's secrets or connections`;
      return [{ path: `${field}.${index}`, message }];
    }),
  );

/** The definition without packages that a file declares: the file is read again when it may have changed. */
export function toDeclaredResources({ dependencies_source: source, ...declared }: Definition) {
  return source === null ? declared : { ...declared, python_dependencies: [] };
}

/** A field that is given replaces the present one; limits, retry and approvals are changed key by key. */
export function mergeDefinition(current: Definition, change: DefinitionInput): DefinitionInput {
  const merged: DefinitionInput = { ...toDeclaredResources(current), ...change };
  for (const field of ['limits', 'retry', 'approvals'] as const) {
    const given = change[field];
    if (given !== null && typeof given === 'object') merged[field] = { ...current[field], ...given };
  }
  return merged;
}
