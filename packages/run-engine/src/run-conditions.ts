/**
 * Parts of services' statements that read runs, as SQL. A parameter is a column or a parameter of the statement. Services know
 * neither the table nor its columns, and still decide in one statement, under one snapshot.
 */
import { REHEARSAL, runStatuses, terminalStatuses } from './run';

const list = (statuses: readonly string[]) => `('${statuses.join("', '")}')`;

const LIVE = list(runStatuses.filter((status) => !(terminalStatuses as readonly string[]).includes(status)));

/** Condition: the run waits for a decision. */
export const awaitsDecisionSql = (runId: string): string =>
  `EXISTS (SELECT FROM runs awaiting WHERE awaiting.id = ${runId} AND awaiting.status = 'pending_approval')`;

/** Condition: the run has ended, or is gone. */
export const hasEndedSql = (runId: string): string =>
  `NOT EXISTS (SELECT FROM runs live WHERE live.id = ${runId} AND live.status IN ${LIVE})`;

/** Query: ids of the runs of a subject that have not ended. */
export const liveRunsSql = (workspaceId: string, subjectId: string): string =>
  `SELECT id FROM runs WHERE workspace_id = ${workspaceId} AND subject_id = ${subjectId} AND status IN ${LIVE}`;

/** Query: `id` and `cost_usd` of the runs that ended before. */
export const endedRunsSql = (before: string): string => `SELECT id, cost_usd FROM runs WHERE finished_at < ${before}`;

/** Query: `cost_usd` of the newest runs of a subject that have ended. */
export const recentCostsSql = (workspaceId: string, subjectId: string, limit: string): string =>
  `SELECT cost_usd FROM runs WHERE workspace_id = ${workspaceId} AND subject_id = ${subjectId} AND finished_at IS NOT NULL
     ORDER BY created_at DESC LIMIT ${limit}`;

/** Value: cost in US dollars of the tests and rehearsals of a subject, whose ends are not announced as those of runs. */
export const testCostSql = (workspaceId: string, subjectId: string, since: string): string =>
  `coalesce((SELECT sum(cost_usd) FROM runs WHERE workspace_id = ${workspaceId} AND subject_id = ${subjectId}
     AND trigger IN ${list(['test', REHEARSAL])} AND created_at >= ${since}), 0)`;
