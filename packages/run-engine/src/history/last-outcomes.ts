/** Loads the outcomes of the last runs of many subjects, with a few index probes for each. */
import type { RunError, SandboxInfo } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import type { RunStatus } from '../run';

export interface LastOutcome {
  /** The newest run; null before the first. */
  last: { id: string; status: RunStatus; createdAt: Date } | null;
  /** The version's newest run that completed, failed or timed out, among the `seenAt` newest runs of all versions. */
  ended: {
    id: string;
    status: 'completed' | 'failed' | 'timed_out';
    error: RunError | null;
    finishedAt: Date;
    sandbox: SandboxInfo | null;
  } | null;
}

/** Subjects imply the workspace: a condition on it would let the planner scan the runs of the whole workspace. */
const LAST_OUTCOMES = `SELECT s.id AS subject, last.id, last.status, last.created_at, ended.id AS ended_id, ended.status AS ended,
    ended.error, ended.finished_at, ended.sandbox
  FROM unnest($1::text[], $2::int[]) AS s (id, version)
  LEFT JOIN LATERAL (
    SELECT id, status, created_at FROM runs WHERE subject_id = s.id AND kind = 'run'
    ORDER BY created_at DESC, id DESC LIMIT 1
  ) AS last ON true
  LEFT JOIN LATERAL (
    SELECT id, status, error, finished_at, sandbox FROM (
      SELECT id, version, status, error, finished_at, sandbox FROM runs WHERE subject_id = s.id AND kind = 'run'
      ORDER BY created_at DESC, id DESC LIMIT $3
    ) AS recent WHERE version = s.version AND status IN ('completed', 'failed', 'timed_out') LIMIT 1
  ) AS ended ON true`;

export interface Subject {
  id: string;
  /** The version whose health is requested: earlier ones do not count. */
  version: number;
}

/** Returns outcomes by subject. */
export async function loadLastOutcomes(
  sql: Sql,
  subjects: Subject[],
  { seenAt }: { seenAt: number },
): Promise<Map<string, LastOutcome>> {
  const [ids, versions] = [subjects.map(({ id }) => id), subjects.map(({ version }) => version)];
  const { rows } = await sql.query(LAST_OUTCOMES, [ids, versions, seenAt]);
  return new Map(
    rows.map((row) => [
      row.subject,
      {
        last: row.id && { id: row.id, status: row.status, createdAt: row.created_at },
        ended: row.ended_id && {
          id: row.ended_id,
          status: row.ended,
          error: row.error,
          finishedAt: row.finished_at,
          sandbox: row.sandbox,
        },
      },
    ]),
  );
}
