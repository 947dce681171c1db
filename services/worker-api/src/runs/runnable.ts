/** Loads and compiles the start of a run of one version, once: versions never change. */

import { conflict } from '@gantry/errors';
import { type JobConversation, PYTHON } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import { createInputValidator, createLruCache, type InputValidator, toRunIsolation } from '@gantry/program';
import { buildRunLimits, type RunSpec } from '@gantry/run-engine';
import { listPublishedSkills } from '../workers/agent-definition';
import { buildJobAgent, type Definition } from '../workers/definition';
import type { ApprovableCode } from '../workers/version-approval';
import { findVersionToRun, type VersionToRun } from '../workers/worker-queries';

export interface Runnable {
  definition: Definition;
  inputs: InputValidator;
  /** Without files and contexts: those are a run's own. What of it a run gets is decided by admit-code.ts. */
  spec: RunSpec;
  /** The sha that a person has to approve first; null: an approval is not needed. */
  approvalSha: string | null;
}

/** A compiled one takes about 50 KB. */
const CACHED_MAX = 500;
const MB = 1024 * 1024;

export function createRunnables() {
  const kept = createLruCache<Runnable>(CACHED_MAX);
  return {
    /** @throws AppError 409 where the worker has no such version */
    get: (sql: Sql, workerUid: string, version: number): Promise<Runnable> =>
      kept(`${workerUid} ${version}`, () => loadRunnable(sql, workerUid, version)),
  };
}

export type Runnables = ReturnType<typeof createRunnables>;

async function loadRunnable(sql: Sql, workerUid: string, version: number): Promise<Runnable> {
  const found = await findVersionToRun(sql, workerUid, version);
  if (!found) throw conflict('no_version', `this worker has no version ${version}`);
  return toRunnable(found.definition, found.code, { ...found, lockedCode: { id: workerUid, version: found.sha } });
}

export function toRunnable(
  definition: Definition,
  code: RunSpec['code'],
  {
    sha,
    needsApproval,
    onlyWorkers,
    lockedCode,
  }: ApprovableCode & Pick<VersionToRun, 'onlyWorkers'> & Pick<RunSpec, 'lockedCode'>,
): Runnable {
  const { limits, network, connections, expose, in_body: inBody, budget_usd: budgetUsd } = definition;
  const agent = buildJobAgent(definition);
  const skills = listPublishedSkills(definition);
  return {
    definition,
    approvalSha: needsApproval ? sha : null,
    inputs: createInputValidator(definition.inputs),
    spec: {
      runner: PYTHON,
      code,
      entrypoint: definition.entrypoint,
      dependencies: definition.python_dependencies,
      ...(lockedCode && { lockedCode }),
      outputs: definition.outputs.map(({ name, type }) => ({ name, type })),
      secrets: definition.secrets,
      ...(connections.length && { connections }),
      ...(expose.length && { expose }),
      ...(inBody.length && { inBody }),
      ...(agent && { agent }),
      ...(skills.length && { skills }),
      ...(budgetUsd !== null && { modelBudgetUsd: budgetUsd }),
      files: [],
      limits: { ...buildRunLimits(limits.timeout_seconds), memoryBytes: limits.memory_mb * MB },
      network: network === 'none' ? 'none' : 'egress',
      ...(typeof network === 'object' && { allowedHosts: network.allow }),
      ...toRunIsolation(definition.isolation),
      may: ['approve', 'call'],
      ...(onlyWorkers && { onlyWorkers }),
    },
  };
}

/** Gives an agent what was said before; code has no conversation. */
export const addConversation = (spec: RunSpec, conversation: JobConversation | undefined): RunSpec =>
  spec.agent && conversation ? { ...spec, agent: { ...spec.agent, conversation } } : spec;
