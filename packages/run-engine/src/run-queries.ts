/** Reading runs. Every query begins with the workspace; another workspace's run answers like none. */
import { notFound } from '@gantry/http';
import type { Pool } from 'pg';
import type { Run, RunKind, RunStatus } from './run';
import { RUN_COLUMNS, toRun } from './run-row';

export interface RunFilter {
  subjectId?: string;
  status?: RunStatus[];
  kind?: RunKind;
  trigger?: string;
  /** 1 to 200. */
  limit: number;
  /** Only runs older than this one. */
  before?: { createdAt: Date; id: string };
}

export interface RunArtifact {
  id: string;
  name: string;
  contentType: string;
  size: number;
  sha256: string;
  key: string;
}

export async function getRun(pool: Pool, workspaceId: string, runId: string): Promise<Run> {
  const { rows } = await pool.query({
    name: 'get-run',
    text: `SELECT ${RUN_COLUMNS} FROM runs r WHERE r.workspace_id = $1 AND r.id = $2`,
    values: [workspaceId, runId],
  });
  if (!rows[0]) throw notFound('run', runId);
  return toRun(rows[0]);
}

/** Newest first. Costs the same at any table size: an index walk of `limit` rows, no count, no offset. */
export async function listRuns(pool: Pool, workspaceId: string, filter: RunFilter): Promise<Run[]> {
  const values: unknown[] = [workspaceId];
  const where = ['r.workspace_id = $1'];
  const and = (condition: (place: string) => string, value: unknown) => {
    values.push(value);
    where.push(condition(`$${values.length}`));
  };
  if (filter.subjectId) and((p) => `r.subject_id = ${p}`, filter.subjectId);
  if (filter.status) and((p) => `r.status = ANY(${p})`, filter.status);
  if (filter.kind) and((p) => `r.kind = ${p}`, filter.kind);
  if (filter.trigger) and((p) => `r.trigger = ${p}`, filter.trigger);
  if (filter.before) {
    values.push(filter.before.createdAt, filter.before.id);
    where.push(`(r.created_at, r.id) < ($${values.length - 1}, $${values.length})`);
  }
  values.push(filter.limit);
  const { rows } = await pool.query(
    `SELECT ${RUN_COLUMNS} FROM runs r WHERE ${where.join(' AND ')} ORDER BY r.created_at DESC, r.id DESC LIMIT $${values.length}`,
    values,
  );
  return rows.map(toRun);
}

/** The newest run (not test) of each subject, by subject: one index probe for each. */
export async function lastRuns(pool: Pool, workspaceId: string, subjectIds: string[]): Promise<Map<string, Run>> {
  const { rows } = await pool.query(
    `SELECT ${RUN_COLUMNS} FROM unnest($2::text[]) AS s(id) CROSS JOIN LATERAL (
       SELECT * FROM runs WHERE subject_id = s.id AND workspace_id = $1 AND kind = 'run' ORDER BY created_at DESC, id DESC LIMIT 1
     ) r`,
    [workspaceId, subjectIds],
  );
  return new Map(rows.map((row) => [row.subject_id, toRun(row)]));
}

export async function listArtifacts(pool: Pool, runId: string): Promise<RunArtifact[]> {
  const { rows } = await pool.query(
    `SELECT id, name, content_type AS "contentType", size::float8 AS size, sha256, key FROM run_artifacts
     WHERE run_id = $1 ORDER BY created_at, id`,
    [runId],
  );
  return rows;
}
