/**
 * Tracks the installation of a version's packages ahead of its first run: one row for each version, with the best state
 * that any executor has reported.
 *
 * Reports may be lost, repeated or late. A report changes the row if it is newer than the last one of that executor, or
 * better than that of another. An installation without a report for EXPIRY_MS, because its executor was killed or its
 * last report was lost, is announced again, and after ANNOUNCEMENTS_MAX announcements it has failed, so no installation
 * stays in progress for ever. Nothing here decides how a run is installed.
 */
import {
  addChangeHint,
  type Bus,
  type ChangeNoun,
  INSTALLATION_REPORT_MS,
  type InstallationProgress,
  type InstallationReport,
  installationReport,
  type LockedPackage,
  listen,
  newId,
  type PrepareRequest,
  parseExecutorId,
  type RunSource,
  runSubjects,
} from '@gantry/events';
import { createStatement, pollForWork, type RepeatingTask, type Sql, transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { DependencyLock } from './dependency-locks';
import type { CodeVersionRef, RunSpec } from './run';

const EXPIRY_MS = 4 * INSTALLATION_REPORT_MS;
/** Also in the index dependency_installations_unfinished. */
const ANNOUNCEMENTS_MAX = 3;
const BATCH = 100;

const INTERRUPTED = `The installation was interrupted ${ANNOUNCEMENTS_MAX} times, each time because its executor stopped. The next run will try again.`;

const NOUNS: Record<RunSource, ChangeNoun> = { worker: 'workers', automation: 'automations' };

export interface DependencyInstallation {
  status: 'none' | 'pending' | 'installing' | 'installed' | 'failed';
  /** Only while it is installing, and as far as the executor has reported it. */
  progress: InstallationProgress | null;
  platform: string | null;
  /** The locked packages; before the first run those that were installed ahead of it. */
  packages: Pick<LockedPackage, 'name' | 'version' | 'sha256'>[];
  startedAt: Date | null;
  finishedAt: Date | null;
  error: string | null;
}

const NOT_INSTALLED: DependencyInstallation = {
  status: 'none',
  progress: null,
  platform: null,
  packages: [],
  startedAt: null,
  finishedAt: null,
  error: null,
};

/** Creates the installation of a version before it is announced, or reopens a failed one. */
export async function openInstallation(
  sql: Sql,
  source: RunSource,
  workspaceId: string,
  { dependencies, lockedCode: code }: Pick<RunSpec, 'dependencies' | 'lockedCode'>,
): Promise<Pick<PrepareRequest, 'installation'>> {
  if (!code || !dependencies.length) return {};
  const { rows } = await sql.query<{ id: string }>(
    `INSERT INTO dependency_installations AS i (workspace_id, code_id, code_version, id, status)
     VALUES ($1, $2, $3, $4, 'pending')
     ON CONFLICT (workspace_id, code_id, code_version) DO UPDATE SET
       announcements = CASE i.status WHEN 'failed' THEN 1 ELSE i.announcements END,
       reported_at = CASE i.status WHEN 'failed' THEN now() ELSE i.reported_at END,
       error = NULL, started_at = CASE i.status WHEN 'failed' THEN NULL ELSE i.started_at END,
       finished_at = CASE i.status WHEN 'failed' THEN NULL ELSE i.finished_at END,
       status = CASE i.status WHEN 'failed' THEN 'pending' ELSE i.status END
     RETURNING id`,
    [workspaceId, code.id, code.version, newId('ins_')],
  );
  return rows[0] ? { installation: { source, id: rows[0].id } } : {};
}

/** Loads the state of a version. @param version.locks those of the version: one means that a run has installed it */
export async function loadInstallation(
  sql: Sql,
  workspaceId: string,
  { dependencies, code, locks }: { dependencies: readonly string[]; code: CodeVersionRef; locks: DependencyLock[] },
): Promise<DependencyInstallation> {
  if (!dependencies.length) return NOT_INSTALLED;
  const { rows } = await sql.query(
    `SELECT status, platform, phase, done, total, packages, error, started_at AS "startedAt", finished_at AS "finishedAt"
     FROM dependency_installations WHERE workspace_id = $1 AND code_id = $2 AND code_version = $3`,
    [workspaceId, code.id, code.version],
  );
  const [reported] = rows;
  const lock = locks.find(({ platform }) => platform === reported?.platform) ?? locks[0];
  const status = lock ? 'installed' : (reported?.status ?? 'pending');
  const packages: LockedPackage[] = lock?.packages ?? reported?.packages ?? [];
  // A run has installed what no executor had installed ahead of it.
  const times = lock && reported?.status !== 'installed' ? { finishedAt: lock.lockedAt } : reported;
  return {
    status,
    progress:
      status === 'installing' && reported?.phase
        ? { phase: reported.phase, done: reported.done, total: reported.total }
        : null,
    platform: lock?.platform ?? reported?.platform ?? null,
    packages: packages.map(({ name, version, sha256 }) => ({ name, version, sha256 })),
    startedAt: times?.startedAt ?? null,
    finishedAt: times?.finishedAt ?? null,
    error: status === 'failed' ? (reported?.error ?? null) : null,
  };
}

const RECORD = createStatement(
  'record-installation',
  `WITH before AS (SELECT * FROM dependency_installations WHERE id = $id FOR UPDATE)
   UPDATE dependency_installations i SET
     status = $status, executor_id = $executor_id, sequence = $sequence, platform = $platform, phase = $phase, done = $done,
     total = $total, packages = $packages::json, error = $error, started_at = least(to_timestamp($started_at / 1000.0), now()),
     finished_at = CASE WHEN $status = 'installing' THEN NULL ELSE now() END, reported_at = now()
   FROM before b
   WHERE i.id = b.id AND b.status <> 'installed' AND (
     (b.executor_id = $executor_id AND b.sequence < $sequence)
     OR (b.executor_id IS DISTINCT FROM $executor_id
       AND array_position(ARRAY['pending', 'failed', 'installing', 'installed'], $status::text)
         > array_position(ARRAY['pending', 'failed', 'installing', 'installed'], b.status)))
   RETURNING i.workspace_id AS "workspaceId",
     (b.status, b.phase) IS DISTINCT FROM (i.status, i.phase) AS "isChanged"`,
);

/** Writes what executors report, and hints at each new status and phase: open pages reload counts themselves. */
export function handleInstallationReports(deps: { bus: Bus; pool: Pool; source: RunSource; log: Logger }) {
  const { bus, pool, source, log } = deps;
  return listen(
    bus,
    runSubjects.installation(source, '*'),
    installationReport,
    (report, { subject }) => recordReport(pool, source, parseExecutorId(subject), report),
    { queue: 'installations', log },
  );
}

function recordReport(pool: Pool, source: RunSource, executorId: string, report: InstallationReport): Promise<void> {
  const progress = report.status === 'installing' ? report.progress : null;
  const installed = report.status === 'installed' ? report : null;
  return transaction(pool, async (tx) => {
    const { rows } = await tx.query(
      RECORD({
        id: report.id,
        executor_id: executorId,
        sequence: report.sequence,
        status: report.status,
        platform: installed?.platform ?? null,
        phase: progress?.phase ?? null,
        done: progress?.done ?? null,
        total: progress?.total ?? null,
        packages: installed?.packages ? JSON.stringify(installed.packages) : null,
        error: report.status === 'failed' ? report.error : null,
        started_at: report.startedAt,
      }),
    );
    if (rows[0]?.isChanged) addChangeHint(tx, rows[0].workspaceId, NOUNS[source]);
  });
}

/** Announces code again. */
export type Reannounce = (code: { workspaceId: string; codeId: string }) => Promise<void>;

/**
 * Re-announces installations without recent reports, and fails those that were interrupted ANNOUNCEMENTS_MAX times.
 */
export function startInstallationSweeper(deps: {
  pool: Pool;
  source: RunSource;
  reannounce: Reannounce;
  log: Logger;
}): RepeatingTask {
  const { pool, source, reannounce, log } = deps;
  return pollForWork({
    pool,
    dueAt: INSTALLATIONS_DUE_AT,
    work: async () => {
      const expired = await expireInstallations(pool, source);
      for (const code of expired.filter(({ status }) => status === 'pending')) {
        // The code may be gone; the other announcements must not wait for the next expiry.
        await reannounce(code).catch((err) => log.warn({ err, codeId: code.codeId }, 'could not reannounce packages'));
      }
    },
    what: 'sweep of interrupted installations',
    log,
  });
}

/** The statuses are literals, as in the partial index. */
const IS_REPORTED = `(status = 'installing' OR (status = 'pending' AND announcements < ${ANNOUNCEMENTS_MAX}))`;
/** When the next installation expires without a report. */
const INSTALLATIONS_DUE_AT = `(SELECT reported_at + interval '${EXPIRY_MS} milliseconds' FROM dependency_installations
  WHERE ${IS_REPORTED} ORDER BY reported_at LIMIT 1)`;

export function expireInstallations(
  pool: Pool,
  source: RunSource,
  now = new Date(),
): Promise<{ workspaceId: string; codeId: string; status: 'pending' | 'failed' }[]> {
  return transaction(pool, async (tx) => {
    const { rows } = await tx.query(
      `UPDATE dependency_installations i SET
         status = CASE WHEN i.announcements < ${ANNOUNCEMENTS_MAX} THEN 'pending' ELSE 'failed' END,
         error = CASE WHEN i.announcements < ${ANNOUNCEMENTS_MAX} THEN NULL ELSE $3 END,
         started_at = CASE WHEN i.announcements < ${ANNOUNCEMENTS_MAX} THEN NULL ELSE i.started_at END,
         finished_at = CASE WHEN i.announcements < ${ANNOUNCEMENTS_MAX} THEN NULL ELSE now() END,
         announcements = i.announcements + 1, phase = NULL, done = NULL, total = NULL, reported_at = now()
       WHERE i.id = ANY(ARRAY(
         SELECT id FROM dependency_installations WHERE ${IS_REPORTED} AND reported_at < $1
         ORDER BY reported_at LIMIT $2 FOR UPDATE SKIP LOCKED))
       RETURNING i.workspace_id AS "workspaceId", i.code_id AS "codeId", i.status`,
      [new Date(now.getTime() - EXPIRY_MS), BATCH, INTERRUPTED],
    );
    for (const { workspaceId } of rows) addChangeHint(tx, workspaceId, NOUNS[source]);
    return rows;
  });
}
