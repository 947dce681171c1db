/**
 * Stores the packages that a version was first installed with. Executors propose what they have resolved; the first
 * proposal for a platform is the lock, and every executor installs that one.
 */
import {
  type Bus,
  computeLockDigest,
  type LockedPackage,
  type LockReply,
  type LockRequest,
  lockRequest,
  type PrepareRequest,
  type RunSource,
  runSubjects,
} from '@gantry/events';
import { createStatement, type Sql } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { handleHeldRunRequests } from './held-run-requests';
import type { CodeVersionRef, Run, RunSpec } from './run';
import { NOT_HELD, type RunTokens } from './run-tokens';

/** Packages in an announcement: beyond, executors read the lock with the first run. */
const ANNOUNCED_CHARS_MAX = 16 * 1024;

export interface DependencyLock {
  platform: string;
  packages: LockedPackage[];
  lockedAt: Date;
}

/** Answers executors' requests for the lock of a run's version. */
export function handleLockRequests(deps: { bus: Bus; pool: Pool; source: RunSource; tokens: RunTokens; log: Logger }): {
  close(): void;
} {
  const subject = runSubjects.lock(deps.source, '*');
  return handleHeldRunRequests(deps, { subject, schema: lockRequest, queue: 'locks' }, (request) =>
    negotiateLock(deps.pool, request),
  );
}

const NEGOTIATE_LOCK = createStatement(
  'agree-on-lock',
  `WITH held AS (
     SELECT workspace_id, spec -> 'lockedCode' ->> 'id' AS code_id, spec -> 'lockedCode' ->> 'version' AS code_version
     FROM runs WHERE id = $run_id AND attempt = $attempt AND executor_id = $executor_id AND status = 'running'
   ), made AS (
     INSERT INTO dependency_locks (workspace_id, code_id, code_version, platform, packages, digest)
     SELECT workspace_id, code_id, code_version, $platform, $packages::json, $digest FROM held
     WHERE code_id IS NOT NULL AND $packages::json IS NOT NULL
     ON CONFLICT DO NOTHING RETURNING packages
   )
   SELECT held.code_id AS "codeId", coalesce(made.packages, l.packages) AS packages
   FROM held LEFT JOIN made ON true
   LEFT JOIN dependency_locks l ON l.workspace_id = held.workspace_id AND l.code_id = held.code_id
     AND l.code_version = held.code_version AND l.platform = $platform`,
);

async function negotiateLock(pool: Pool, request: LockRequest & { executorId: string }): Promise<LockReply> {
  const { runId, attempt, executorId, platform, packages } = request;
  for (;;) {
    const { rows } = await pool.query(
      NEGOTIATE_LOCK({
        run_id: runId,
        attempt,
        executor_id: executorId,
        platform,
        packages: packages ? JSON.stringify(packages) : null,
        digest: packages ? computeLockDigest(packages) : null,
      }),
    );
    const [stored] = rows;
    if (!stored) return NOT_HELD;
    if (stored.codeId === null) return { refused: "this run's packages are not locked" };
    // Another statement wrote it after this one began: the next query sees it.
    if (packages && !stored.packages) continue;
    return { packages: stored.packages };
  }
}

/** Loads the digests by platform for a job; undefined: its packages are not locked. */
export async function loadLockDigests(
  sql: Sql,
  { workspaceId, spec }: Run,
): Promise<Record<string, string> | undefined> {
  if (!spec.lockedCode || !spec.dependencies.length) return undefined;
  const { rows } = await sql.query<{ platform: string; digest: string }>(
    'SELECT platform, digest FROM dependency_locks WHERE workspace_id = $1 AND code_id = $2 AND code_version = $3',
    [workspaceId, spec.lockedCode.id, spec.lockedCode.version],
  );
  return Object.fromEntries(rows.map(({ platform, digest }) => [platform, digest]));
}

/** Lists the locks of a version, one for each platform that has installed it. */
export async function listDependencyLocks(
  sql: Sql,
  workspaceId: string,
  code: CodeVersionRef,
): Promise<DependencyLock[]> {
  const { rows } = await sql.query<DependencyLock>(
    `SELECT platform, packages, locked_at AS "lockedAt" FROM dependency_locks
     WHERE workspace_id = $1 AND code_id = $2 AND code_version = $3 ORDER BY platform`,
    [workspaceId, code.id, code.version],
  );
  return rows;
}

/** Loads the locks of a version for its announcement, as far as they fit into one. */
export async function loadAnnouncedLocks(
  sql: Sql,
  workspaceId: string,
  { dependencies, lockedCode: code }: Pick<RunSpec, 'dependencies' | 'lockedCode'>,
): Promise<Pick<PrepareRequest, 'locks'>> {
  if (!code || !dependencies.length) return {};
  let chars = 0;
  const fitting = (await listDependencyLocks(sql, workspaceId, code)).filter(({ packages }) => {
    chars += JSON.stringify(packages).length;
    return chars <= ANNOUNCED_CHARS_MAX;
  });
  if (!fitting.length) return {};
  return { locks: Object.fromEntries(fitting.map(({ platform, packages }) => [platform, packages])) };
}

/** Deletes the locks and installations of all versions of a worker. */
export async function deleteDependencyRecords(sql: Sql, workspaceId: string, codeId: string): Promise<void> {
  for (const table of ['dependency_locks', 'dependency_installations']) {
    await sql.query(`DELETE FROM ${table} WHERE workspace_id = $1 AND code_id = $2`, [workspaceId, codeId]);
  }
}
