/**
 * Lists pages of runs, newest first, at a cost that does not grow with the table.
 *
 * Every page is a walk along an index that has the page's order, from the cursor on. The walk is chosen by the filter
 * that leaves the fewest runs and has an index of its own (subject and status, subject, status, trigger); what other
 * filters leave out is skipped while walking. Since that may be many, a walk ends after SCAN_MAX runs: such a page has
 * fewer runs than requested, and its cursor continues where the walk ended.
 *
 * Statuses are literals and not parameters, and each one is a separate walk: only then can PostgreSQL use the indexes
 * on rare statuses.
 */
import type { Sql } from '@gantry/postgres';
import type { Run, RunCursor, RunStatus, RunSummary } from '../run';
import { buildSmallJsonSql } from './small-json';

/** More subjects than this are filtered run by run instead of with a walk each. */
const WALKED_SUBJECTS_MAX = 40;
/** Runs read for one page: tens of milliseconds, even if each is in another block. */
export const SCAN_MAX = 10_000;
/** Inputs and outputs up to this size, in bytes of JSON, are part of a list. */
const LISTED_JSON_BYTES_MAX = 8_192;

const COLUMNS = `r.id, r.workspace_id AS "workspaceId", r.subject_id AS "subjectId", r.subject_ref AS "subjectRef",
  r.parent_run_id AS "parentRunId", r.trigger, r.version, r.status, r.priority, 1 + r.retries_used AS tries,
  r.wake_at AS "wakeAt", r.suspension, r.error, r.cost_usd AS "costUsd", r.created_by AS "createdBy",
  r.cancel_requested_at AS "cancelRequestedAt", r.created_at AS "createdAt", r.started_at AS "startedAt",
  r.finished_at AS "finishedAt"`;
const SMALL_JSON = `, CASE WHEN ${buildSmallJsonSql('r.inputs', LISTED_JSON_BYTES_MAX)} THEN r.inputs END AS inputs,
  CASE WHEN ${buildSmallJsonSql('r.output', LISTED_JSON_BYTES_MAX)} THEN r.output END AS output,
  coalesce(${buildSmallJsonSql('r.output', LISTED_JSON_BYTES_MAX)}, false) AS "hasOutput",
  r.spec->'outputs' AS "declaredOutputs"`;

export interface PagedRunFilter {
  subjectId?: string;
  /** Any of these; none of them finds nothing. Not together with `subjectId`. */
  subjectIds?: string[];
  kind?: Run['kind'];
  /** Empty: any. */
  statuses: RunStatus[];
  trigger?: string;
  /** False if the service has no index of runs by trigger: they are filtered run by run. Default: true. */
  triggerIndexed?: boolean;
  since?: Date;
  until?: Date;
  /** Subjects whose runs are left out. */
  hidden: string[];
}

export interface RunPage {
  limit: number;
  offset?: number;
  /** The last run of the page before. */
  before?: RunCursor | undefined;
  /** Includes inputs and outputs if they are small. */
  withJson?: boolean;
}

export interface ListedRun extends RunSummary {
  /** Null where too large for a list. Absent without `withJson`. */
  inputs?: Record<string, unknown> | null;
  /** The code may have returned null: see `hasOutput`. */
  output?: unknown;
  /** False before the run has completed, and where the output is too large for a list. */
  hasOutput?: boolean;
  declaredOutputs?: Run['spec']['outputs'];
}

export interface ListedRuns {
  runs: ListedRun[];
  /** Start of the next page; null on the last. */
  next: RunCursor | null;
}

/** Statuses with an entry in the indexes on rare statuses: see the migrations. */
const isRareStatus = (status: RunStatus | undefined): boolean =>
  status !== undefined && status !== 'completed' && status !== 'running';

/** One index walk, as SQL with its parameters in `values`. */
interface IndexWalk {
  /** Source and conditions that the index covers. */
  indexed: string;
  /** Conditions that are checked run by run; null without any. */
  skipping: string | null;
}

export async function listRunPage(
  sql: Sql,
  workspaceId: string,
  filter: PagedRunFilter,
  page: RunPage,
): Promise<ListedRuns> {
  const { limit, offset = 0, before, withJson = false } = page;
  const { values, walks } = buildWalks(workspaceId, filter, before);
  if (walks.length === 0) return { runs: [], next: null };
  const newest = 'ORDER BY r.created_at DESC, r.id DESC';
  const rowLimit = limit + offset + 1;
  const columns = COLUMNS + (withJson ? SMALL_JSON : '');
  const select = ({ indexed, skipping }: IndexWalk) =>
    skipping === null
      ? `SELECT r.* FROM ${indexed} ${newest} LIMIT ${rowLimit}`
      : `SELECT r.* FROM (SELECT r.* FROM ${indexed} ${newest} LIMIT ${SCAN_MAX}) r WHERE ${skipping} ${newest} LIMIT ${rowLimit}`;
  const text = `SELECT ${columns} FROM (${walks.map((walk) => `(${select(walk)})`).join(' UNION ALL ')}) r
    ${newest} LIMIT ${limit + 1} OFFSET ${offset}`;
  const { rows } = await sql.query<ListedRun>(text, values);
  if (rows.length > limit) return { runs: rows.slice(0, limit), next: toCursor(rows[limit - 1]) };
  const end = await findScanEnd(sql, walks, values, newest);
  if (!end) return { runs: rows, next: null };
  // One walk ended early: runs of others beyond its end belong to a later page.
  const listedRuns = walks.length > 1 ? await filterUpTo(sql, rows, end) : rows;
  return { runs: listedRuns, next: end };
}

/** Counts row by row: linear in the number of runs. */
export async function countRunPage(sql: Sql, workspaceId: string, filter: PagedRunFilter): Promise<number> {
  const { values, walks } = buildWalks(workspaceId, filter, undefined);
  if (walks.length === 0) return 0;
  const counts = walks.map(
    ({ indexed, skipping }) => `(SELECT count(*) FROM ${indexed}${skipping === null ? '' : ` AND ${skipping}`})`,
  );
  const { rows } = await sql.query(`SELECT (${counts.join(' + ')})::int AS count`, values);
  return rows[0].count;
}

function buildWalks(workspaceId: string, filter: PagedRunFilter, before: RunCursor | undefined) {
  const { subjectId, subjectIds, kind, statuses, trigger, triggerIndexed = true, since, until, hidden } = filter;
  const values: unknown[] = [workspaceId];
  const addParameter = (value: unknown) => `$${values.push(value)}`;
  const common = ['r.workspace_id = $1'];
  if (subjectId) common.push(`r.subject_id = ${addParameter(subjectId)}`);
  if (since) common.push(`r.created_at >= ${addParameter(since)}`);
  if (until) common.push(`r.created_at < ${addParameter(until)}`);
  if (before) common.push(`(r.created_at, r.id) < (${addParameter(before.createdAt)}, ${addParameter(before.id)})`);
  const isWalked = subjectIds !== undefined && subjectIds.length <= WALKED_SUBJECTS_MAX;
  const subjects = isWalked ? subjectIds.map((id) => `r.subject_id = ${addParameter(id)}`) : [undefined];
  const hasTrigger = trigger && `r.trigger = ${addParameter(trigger)}`;
  const isVisible = hidden.length && `r.subject_id <> ALL(${addParameter(hidden)})`;
  const isOneOf = subjectIds && !isWalked ? `r.subject_id = ANY(${addParameter(subjectIds)})` : undefined;
  const hasKind = kind && `r.kind = '${kind}'`;

  const buildWalk = (status: RunStatus | undefined, hasSubject: string | undefined): IndexWalk => {
    const hasStatus = status && `r.status = '${status}'`;
    const byTrigger = triggerIndexed && !subjectId && !hasSubject && !isRareStatus(status);
    const indexed = hasSubject ? [...common, hasSubject] : [...common];
    const skipping: string[] = [];
    const addCondition = (condition: string | 0 | undefined, isIndexed: boolean) => {
      if (condition) (isIndexed ? indexed : skipping).push(condition);
    };
    addCondition(hasStatus, isRareStatus(status));
    addCondition(hasTrigger, byTrigger);
    addCondition(isVisible, false);
    addCondition(isOneOf, false);
    addCondition(hasKind, false);
    // There are at most as many as executor slots: all are collected, without walking the history.
    if (status === 'running') {
      const running = [...indexed, ...skipping].join(' AND ');
      return { indexed: `(SELECT r.* FROM runs r WHERE ${running} OFFSET 0) r WHERE true`, skipping: null };
    }
    return { indexed: `runs r WHERE ${indexed.join(' AND ')}`, skipping: skipping.join(' AND ') || null };
  };
  const walkedStatuses = statuses.length ? statuses : [undefined];
  return { values, walks: walkedStatuses.flatMap((status) => subjects.map((subject) => buildWalk(status, subject))) };
}

/** Finds the newest position at which a walk ended before its index did. */
async function findScanEnd(sql: Sql, walks: IndexWalk[], values: unknown[], newest: string): Promise<RunCursor | null> {
  const ends = walks
    .filter(({ skipping }) => skipping !== null)
    .map(({ indexed }) => `(SELECT r.created_at, r.id FROM ${indexed} ${newest} OFFSET ${SCAN_MAX - 1} LIMIT 1)`)
    .join(' UNION ALL ');
  if (!ends) return null;
  const used = Math.max(...[...ends.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const { rows } = await sql.query(
    `SELECT r.created_at AS "createdAt", r.id FROM (${ends}) r ${newest} LIMIT 1`,
    values.slice(0, used),
  );
  return rows[0] ?? null;
}

/** Filters in SQL, because only PostgreSQL knows its text order. */
async function filterUpTo(sql: Sql, runs: ListedRun[], end: RunCursor): Promise<ListedRun[]> {
  const { rows } = await sql.query(
    `SELECT r.id FROM unnest($1::timestamptz[], $2::text[]) AS r(created_at, id) WHERE (r.created_at, r.id) >= ($3, $4)`,
    [runs.map(({ createdAt }) => createdAt), runs.map(({ id }) => id), end.createdAt, end.id],
  );
  const kept = new Set(rows.map(({ id }) => id));
  return runs.filter(({ id }) => kept.has(id));
}

const toCursor = (run: ListedRun | undefined): RunCursor | null =>
  run ? { createdAt: run.createdAt, id: run.id } : null;
