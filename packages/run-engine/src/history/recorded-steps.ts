/** Pages through a run's recorded steps, which are replayed when its code runs again. */
import type { RecordedStep } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import { FINAL_STEP_CONDITION } from '../run-steps';

const PAGE_BYTES_MAX = 2 * 1024 * 1024;

export interface RecordedStepPage {
  steps: (RecordedStep & { ref: string | null })[];
  hasMore: boolean;
}

/** Loads at most `limit` steps, and at most 2 MB plus the step that exceeds them. @param after an ordinal */
export async function loadRecordedStepPage(
  sql: Sql,
  runId: string,
  { after, limit, offset }: { after: number; limit: number; offset: number },
): Promise<RecordedStepPage> {
  const { rows } = await sql.query(
    `SELECT ordinal, kind, name, result, ref, found FROM (
       SELECT *, count(*) OVER ()::int AS found, sum(bytes) OVER (ORDER BY ordinal) - bytes AS bytes_before FROM (
         SELECT ordinal, kind, name, result, ref, coalesce(octet_length(result::text), 0) AS bytes
         FROM run_steps s WHERE run_id = $1 AND ordinal > $2 AND ${FINAL_STEP_CONDITION} ORDER BY ordinal LIMIT $3 + 1 OFFSET $4
       ) next
     ) page WHERE bytes_before < ${PAGE_BYTES_MAX} ORDER BY ordinal LIMIT $3`,
    [runId, after, limit, offset],
  );
  return { steps: rows.map(({ found: _found, ...step }) => step), hasMore: rows.length < (rows[0]?.found ?? 0) };
}
