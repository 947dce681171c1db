/** What is shown of workers besides their rows: the same few queries for one worker and for a page of them. */
import { type LastOutcome, lastOutcomes, recentRuns } from '@gantry/run-engine';
import type { Deps } from '../deps';
import type { Worker } from '../generated/prisma/client';
import { type ApiRunStatus, apiStatus } from '../run-status';

export interface WorkerFacts {
  sha: string;
  health: 'ready' | 'healthy' | 'needs_attention' | 'missing_secret';
  /** Declared secrets that are not set. */
  missingSecrets: string[];
  lastRun: { id: string; status: ApiRunStatus; createdAt: Date } | null;
}

/** A worker's health is that of its last run that came to an end of its own, sought among so many. */
const RUNS_LOOKED_AT = 100;

const VERSIONS = `SELECT v.worker_uid AS uid, v.sha, v.definition -> 'secrets' AS secrets
  FROM workers w JOIN worker_versions v ON v.worker_uid = w.uid AND v.number = w.current_version
  WHERE w.workspace_id = $1 AND w.uid = ANY($2)`;

export async function factsOf(
  { pool, secrets }: Pick<Deps, 'pool' | 'secrets'>,
  workspaceId: string,
  workers: Pick<Worker, 'uid'>[],
): Promise<Map<string, WorkerFacts>> {
  if (!workers.length) return new Map();
  const uids = workers.map(({ uid }) => uid);
  const [versions, runs] = await Promise.all([
    pool.query<{ uid: string; sha: string; secrets: string[] }>(VERSIONS, [workspaceId, uids]),
    lastOutcomes(pool, uids, { lookedAt: RUNS_LOOKED_AT }),
  ]);
  const declared = [...new Set(versions.rows.flatMap((version) => version.secrets))];
  const missing = new Set(await secrets.missing(workspaceId, declared));
  return new Map(
    versions.rows.map((version) => {
      const missingSecrets = version.secrets.filter((name) => missing.has(name));
      return [version.uid, factsWith(version.sha, missingSecrets, runs.get(version.uid))];
    }),
  );
}

function factsWith(sha: string, missingSecrets: string[], outcome: LastOutcome | undefined): WorkerFacts {
  const { last = null, ended = null } = outcome ?? {};
  const lastRun = last && { ...last, status: apiStatus(last.status) };
  return { sha, missingSecrets, health: healthOf(missingSecrets, ended), lastRun };
}

function healthOf(missingSecrets: string[], ended: LastOutcome['ended']): WorkerFacts['health'] {
  if (missingSecrets.length) return 'missing_secret';
  if (!ended) return 'ready';
  return ended.status === 'completed' ? 'healthy' : 'needs_attention';
}

/** @returns by worker what `recent_runs` of the list adds to it: nothing unless it was asked for */
export async function recentRunsOf(
  { pool }: Pick<Deps, 'pool'>,
  workers: Pick<Worker, 'uid'>[],
  limit: number,
): Promise<(worker: Pick<Worker, 'uid'>) => { recent_runs?: object[] }> {
  if (limit === 0 || !workers.length) return () => ({});
  const uids = workers.map(({ uid }) => uid);
  const runs = await recentRuns(pool, uids, { limit });
  return ({ uid }) => ({
    recent_runs: (runs.get(uid) ?? []).map(({ id, status, createdAt, durationMs }) => ({
      ...{ id, status: apiStatus(status), created_at: createdAt.toISOString(), duration_ms: durationMs },
    })),
  });
}
