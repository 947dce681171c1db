/** What is shown of workers besides their rows: the same few queries for one worker and for a page of them. */
import type { RunStatus } from '@gantry/run-engine';
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

/** Uids say the workspace: naming it here too would let the planner walk the runs of the whole workspace. */
const RUNS = `SELECT w.uid, last.id, last.status, last.created_at, ended.status AS ended
  FROM unnest($1::text[]) AS w (uid)
  LEFT JOIN LATERAL (
    SELECT id, status, created_at FROM runs WHERE subject_id = w.uid
    ORDER BY created_at DESC, id DESC LIMIT 1
  ) AS last ON true
  LEFT JOIN LATERAL (
    SELECT status FROM (
      SELECT status FROM runs WHERE subject_id = w.uid
      ORDER BY created_at DESC, id DESC LIMIT ${RUNS_LOOKED_AT}
    ) AS recent WHERE status IN ('completed', 'failed', 'timed_out') LIMIT 1
  ) AS ended ON true`;

const VERSIONS = `SELECT v.worker_uid AS uid, v.sha, v.definition -> 'secrets' AS secrets
  FROM workers w JOIN worker_versions v ON v.worker_uid = w.uid AND v.number = w.current_version
  WHERE w.workspace_id = $1 AND w.uid = ANY($2)`;

interface RunRow {
  uid: string;
  id: string | null;
  status: RunStatus;
  created_at: Date;
  ended: string | null;
}

export async function factsOf(
  { pool, secrets }: Pick<Deps, 'pool' | 'secrets'>,
  workspaceId: string,
  workers: Pick<Worker, 'uid'>[],
): Promise<Map<string, WorkerFacts>> {
  if (!workers.length) return new Map();
  const uids = workers.map(({ uid }) => uid);
  const [versions, runs] = await Promise.all([
    pool.query<{ uid: string; sha: string; secrets: string[] }>(VERSIONS, [workspaceId, uids]),
    pool.query<RunRow>(RUNS, [uids]),
  ]);
  const declared = [...new Set(versions.rows.flatMap((version) => version.secrets))];
  const missing = new Set(await secrets.missing(workspaceId, declared));
  const runByUid = new Map(runs.rows.map((row) => [row.uid, row]));
  return new Map(
    versions.rows.map((version) => {
      const missingSecrets = version.secrets.filter((name) => missing.has(name));
      return [version.uid, factsWith(version.sha, missingSecrets, runByUid.get(version.uid))];
    }),
  );
}

function factsWith(sha: string, missingSecrets: string[], run: RunRow | undefined): WorkerFacts {
  const lastRun = run?.id ? { id: run.id, status: apiStatus(run.status), createdAt: run.created_at } : null;
  return { sha, missingSecrets, health: healthOf(missingSecrets, run?.ended ?? null), lastRun };
}

function healthOf(missingSecrets: string[], ended: string | null): WorkerFacts['health'] {
  if (missingSecrets.length) return 'missing_secret';
  if (ended === null) return 'ready';
  return ended === 'completed' ? 'healthy' : 'needs_attention';
}
