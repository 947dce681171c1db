/** Loads statistics of workers: the same few queries for one worker and for a page of them. */
import type { SandboxInfo } from '@gantry/events';
import { toApiFields } from '@gantry/http';
import { type LastOutcome, loadLastOutcomes, loadRecentRuns } from '@gantry/run-engine';
import type { OwnedResource } from '../access/ownership';
import { listConnectionProblems, listConnectionsByName } from '../connections/usable-connections';
import type { Worker } from '../generated/prisma/client';
import type { AgentFields } from './agent-definition';
import {
  createReferenceChecker,
  listReferences,
  noReferenceProblems,
  type ReferenceProblems,
} from './agent-references';
import { type ApiRunStatus, toApiStatus } from './run-status';
import { approvalToApi } from './version-approval';
import type { WorkerDeps } from './worker-deps';

export interface WorkerStats {
  sha: string;
  approval: ReturnType<typeof approvalToApi>;
  health: 'ready' | 'healthy' | 'needs_attention' | 'missing_secret';
  /** Declared secrets that are not set. */
  missingSecrets: string[];
  /** Declared connections that are not there, or do not work. */
  connectionProblems: string[];
  /** Problems of an agent. */
  references: ReferenceProblems;
  /** The sandbox of the run that its health is derived from. */
  lastSandbox: SandboxInfo | null;
  lastRun: { id: string; status: ApiRunStatus; createdAt: Date } | null;
}

/**
 * A worker's health is that of the last run of its current version that came to an end of its own, sought among so
 * many.
 */
const SCANNED_RUNS_MAX = 100;

const VERSIONS = `SELECT v.worker_uid AS uid, v.sha, v.definition -> 'secrets' AS secrets,
    v.definition -> 'connections' AS connections,
    CASE v.definition ->> 'runner' WHEN 'agent' THEN json_build_object('model', v.definition -> 'model', 'tools', v.definition -> 'tools')
      END AS agent, w.visibility, w.owner_id AS "ownerId", v.needs_approval AS "needsApproval",
    a.approved_by AS "approvedBy", a.approved_by_label AS "approvedByLabel", a.approved_at AS "approvedAt"
  FROM workers w JOIN worker_versions v ON v.worker_uid = w.uid AND v.number = w.current_version
  LEFT JOIN version_approvals a ON a.worker_uid = w.uid AND a.sha = v.sha
  WHERE w.workspace_id = $1 AND w.uid = ANY($2)`;

export async function loadWorkerStats(
  deps: Pick<WorkerDeps, 'pool' | 'secrets' | 'models'>,
  workspaceId: string,
  workers: Pick<Worker, 'uid' | 'currentVersion'>[],
): Promise<Map<string, WorkerStats>> {
  if (!workers.length) return new Map();
  const { pool, secrets } = deps;
  const uids = workers.map(({ uid }) => uid);
  const [versions, runs] = await Promise.all([
    pool.query<VersionRow>(VERSIONS, [workspaceId, uids]),
    loadLastOutcomes(
      pool,
      workers.map(({ uid: id, currentVersion: version }) => ({ id, version })),
      { seenAt: SCANNED_RUNS_MAX },
    ),
  ]);
  const declared = [...new Set(versions.rows.flatMap((version) => version.secrets))];
  const named = [...new Set(versions.rows.flatMap(({ connections }) => connections ?? []))];
  const agents = new Map(versions.rows.flatMap(({ uid, agent }) => (agent ? [[uid, listReferences(agent)]] : [])));
  const [missingNames, connections, checkReferences] = await Promise.all([
    secrets.missing(workspaceId, declared),
    listConnectionsByName(pool, workspaceId, named),
    createReferenceChecker(deps, workspaceId, [...agents.values()]),
  ]);
  const missing = new Set(missingNames);
  return new Map(
    versions.rows.map((version) => {
      const missingSecrets = version.secrets.filter((name) => missing.has(name));
      const problems = listConnectionProblems(version, version.connections ?? [], connections).map(({ name }) => name);
      const agent = agents.get(version.uid);
      const references = agent ? checkReferences(agent) : noReferenceProblems;
      const found = { missingSecrets, connectionProblems: problems, references };
      return [version.uid, buildWorkerStats(version, found, runs.get(version.uid))];
    }),
  );
}

interface VersionRow extends OwnedResource {
  uid: string;
  sha: string;
  secrets: string[];
  /** Absent in versions that are older than connections. */
  connections: string[] | null;
  /** Null: it is code. */
  agent: Pick<AgentFields, 'model' | 'tools'> | null;
  needsApproval: boolean;
  approvedBy: string | null;
  approvedByLabel: string | null;
  approvedAt: Date | null;
}

function buildWorkerStats(
  { sha, needsApproval, approvedBy, approvedByLabel, approvedAt }: VersionRow,
  found: Pick<WorkerStats, 'missingSecrets' | 'connectionProblems' | 'references'>,
  outcome: LastOutcome | undefined,
): WorkerStats {
  const { last = null, ended = null } = outcome ?? {};
  const lastRun = last && { ...last, status: toApiStatus(last.status) };
  const health = computeHealth(found, ended);
  const approval = approvedBy !== null && approvedAt !== null ? { approvedBy, approvedByLabel, approvedAt } : null;
  return {
    sha,
    approval: approvalToApi({ sha, needsApproval }, approval),
    ...found,
    health,
    lastRun,
    lastSandbox: ended?.sandbox ?? null,
  };
}

function computeHealth(
  { missingSecrets, connectionProblems, references }: Parameters<typeof buildWorkerStats>[1],
  ended: LastOutcome['ended'],
): WorkerStats['health'] {
  if (missingSecrets.length) return 'missing_secret';
  if (connectionProblems.length || references.modelProblem !== null || references.missingWorkers.length)
    return 'needs_attention';
  if (!ended) return 'ready';
  return ended.status === 'completed' ? 'healthy' : 'needs_attention';
}

/** @returns by worker what `recent_runs` of the list adds to it: nothing unless it was asked for */
export async function loadRecentRunsByWorker(
  { pool }: Pick<WorkerDeps, 'pool'>,
  workers: Pick<Worker, 'uid'>[],
  limit: number,
): Promise<(worker: Pick<Worker, 'uid'>) => { recent_runs?: object[] }> {
  if (limit === 0 || !workers.length) return () => ({});
  const uids = workers.map(({ uid }) => uid);
  const runs = await loadRecentRuns(pool, uids, { limit });
  return ({ uid }) => ({
    recent_runs: (runs.get(uid) ?? []).map((run) => ({
      ...toApiFields(run, 'id', 'createdAt', 'durationMs'),
      status: toApiStatus(run.status),
    })),
  });
}
