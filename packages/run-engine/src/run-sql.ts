/**
 * Builds SQL fragments about runs for statements of services. Arguments are columns or parameters of the statement. So
 * services decide in one statement, under one snapshot, without knowing the table.
 */
import { REHEARSAL, runStatuses, terminalStatuses } from './run';

const toSqlList = (statuses: readonly string[]) => `('${statuses.join("', '")}')`;

const LIVE = toSqlList(runStatuses.filter((status) => !(terminalStatuses as readonly string[]).includes(status)));

/** Builds a condition: the run waits for a decision. */
export const buildAwaitsDecisionSql = (runId: string): string =>
  `EXISTS (SELECT FROM runs awaiting WHERE awaiting.id = ${runId} AND awaiting.status = 'pending_approval')`;

/** Builds a condition: the run has ended, or was deleted. */
export const buildHasEndedSql = (runId: string): string =>
  `NOT EXISTS (SELECT FROM runs live WHERE live.id = ${runId} AND live.status IN ${LIVE})`;

/** Builds a query: ids of a subject's active runs. */
export const buildLiveRunsSql = (workspaceId: string, subjectId: string): string =>
  `SELECT id FROM runs WHERE workspace_id = ${workspaceId} AND subject_id = ${subjectId} AND status IN ${LIVE}`;

/** Builds a query: `id` and `cost_usd` of the runs that ended before. */
export const buildEndedRunsSql = (before: string): string =>
  `SELECT id, cost_usd FROM runs WHERE finished_at < ${before}`;

/** Builds a query: `cost_usd` of a subject's newest ended runs. */
export const buildRecentCostsSql = (workspaceId: string, subjectId: string, limit: string): string =>
  `SELECT cost_usd FROM runs WHERE workspace_id = ${workspaceId} AND subject_id = ${subjectId} AND finished_at IS NOT NULL
     ORDER BY created_at DESC LIMIT ${limit}`;

/** Builds a value: cost in US dollars of a subject's tests and rehearsals, which publish no `run.finished`. */
export const buildTestCostSql = (workspaceId: string, subjectId: string, since: string): string =>
  `coalesce((SELECT sum(cost_usd) FROM runs WHERE workspace_id = ${workspaceId} AND subject_id = ${subjectId}
     AND trigger IN ${toSqlList(['test', REHEARSAL])} AND created_at >= ${since}), 0)`;
