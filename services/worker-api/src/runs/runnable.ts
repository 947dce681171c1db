/** What starting a run of one version needs, read and compiled once: versions never change. */
import { PYTHON } from '@gantry/events';
import { conflict } from '@gantry/http';
import type { Sql } from '@gantry/postgres';
import { createInputValidator, type InputValidator, keepRecent } from '@gantry/program';
import { type RunSpec, runLimits } from '@gantry/run-engine';
import { agentOfDefinition, type Definition, storedDefinition } from '../workers/definition';
import type { ApprovableCode } from '../workers/version-approval';

export interface Runnable {
  definition: Definition;
  inputs: InputValidator;
  /** Without files and contexts: those are a run's own. What of it a run gets is decided by admit-code.ts. */
  spec: RunSpec;
  /** The sha that a person has to approve first; null: an approval is not needed. */
  approvalSha: string | null;
}

/** A compiled one takes about 50 KB. */
const KEPT_MAX = 500;
const MB = 1024 * 1024;

export function createRunnables() {
  const kept = keepRecent<Runnable>(KEPT_MAX);
  return {
    /** @throws AppError 409 where the worker has no such version */
    get: (sql: Sql, workerUid: string, version: number): Promise<Runnable> =>
      kept(`${workerUid} ${version}`, () => load(sql, workerUid, version)),
  };
}

export type Runnables = ReturnType<typeof createRunnables>;

async function load(sql: Sql, workerUid: string, version: number): Promise<Runnable> {
  const { rows } = await sql.query(
    `SELECT definition, code_digest, code_key, code_size, only_workers, sha, needs_approval
     FROM worker_versions WHERE worker_uid = $1 AND number = $2`,
    [workerUid, version],
  );
  const [row] = rows;
  if (!row) throw conflict('no_version', `this worker has no version ${version}`);
  const code = { digest: row.code_digest, key: row.code_key, size: row.code_size };
  const written = { sha: row.sha, needsApproval: row.needs_approval };
  const { spec, ...runnable } = toRunnable(storedDefinition(row.definition), code, written);
  return { ...runnable, spec: { ...spec, ...(row.only_workers && { onlyWorkers: row.only_workers }) } };
}

export function toRunnable(
  definition: Definition,
  code: RunSpec['code'],
  { sha, needsApproval }: ApprovableCode,
): Runnable {
  const { limits, network, connections, expose, in_body: inBody, budget_usd: budgetUsd } = definition;
  const agent = agentOfDefinition(definition);
  return {
    definition,
    approvalSha: needsApproval ? sha : null,
    inputs: createInputValidator(definition.inputs),
    spec: {
      runner: PYTHON,
      code,
      entrypoint: definition.entrypoint,
      dependencies: definition.python_dependencies,
      outputs: definition.outputs.map(({ name, type }) => ({ name, type })),
      secrets: definition.secrets,
      ...(connections.length && { connections }),
      ...(expose.length && { expose }),
      ...(inBody.length && { inBody }),
      ...(agent && { agent }),
      ...(definition.skill !== null && { skills: [definition.skill.slice(0, definition.skill.indexOf('@'))] }),
      ...(budgetUsd !== null && { modelBudgetUsd: budgetUsd }),
      files: [],
      limits: { ...runLimits(limits.timeout_seconds), memoryBytes: limits.memory_mb * MB },
      network: network === 'none' ? 'none' : 'egress',
      ...(typeof network === 'object' && { allowedHosts: network.allow }),
      isolation: definition.isolation,
      may: ['approve', 'call'],
    },
  };
}
