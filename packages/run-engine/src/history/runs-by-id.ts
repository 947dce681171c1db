/** Finds runs by id, with their outcomes. */
import type { Sql } from '@gantry/postgres';
import type { RunSummary } from '../run';
import { buildSmallJsonSql } from './small-json';

export interface RunOutcome
  extends Pick<RunSummary, 'id' | 'status' | 'error' | 'createdBy' | 'createdAt' | 'finishedAt'> {
  /** The code may have returned null: see `hasOutput`. */
  output: unknown;
  /** False before the run has completed, and if its output is larger than requested. */
  hasOutput: boolean;
}

/** Returns outcomes by id; deleted runs are absent. */
export async function findRunOutcomes(
  sql: Sql,
  workspaceId: string,
  runIds: string[],
  { outputBytesMax }: { outputBytesMax: number },
): Promise<Map<string, RunOutcome>> {
  const isSmall = buildSmallJsonSql('output', outputBytesMax);
  const { rows } = await sql.query<RunOutcome>(
    `SELECT id, status, error, created_by AS "createdBy", created_at AS "createdAt", finished_at AS "finishedAt",
       CASE WHEN ${isSmall} THEN output END AS output, coalesce(${isSmall}, false) AS "hasOutput"
     FROM runs WHERE id = ANY($2) AND workspace_id = $1`,
    [workspaceId, runIds],
  );
  return new Map(rows.map((run) => [run.id, run]));
}
