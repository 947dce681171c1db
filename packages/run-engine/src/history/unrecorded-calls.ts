/** Lists requests and calls of a rehearsal that the rehearsed run has no record of. */
import { STEP_FAILED } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import { NOT_RECORDED } from '../recorded-results';
import type { Run } from '../run';

export interface UnrecordedCall {
  /** `wait`: an approval or a call of another worker, which ended the rehearsal. */
  kind: 'request' | 'tool' | 'wait';
  /** A sentence with the request and the recorded ones. */
  message: string;
}

/** Limit per kind. */
const LIST_MAX = 20;

/** Lists them in order, requests first, then tools; at most 20 of each. Empty: the rehearsal's result is comparable. */
export async function listUnrecordedCalls(sql: Sql, { id, error }: Run): Promise<UnrecordedCall[]> {
  const { rows } = await sql.query<UnrecordedCall>(
    `(SELECT 'request' AS kind, data -> 'problem' -> 'message' AS message FROM run_events
      WHERE run_id = $1 AND type = 'request' AND (data -> 'recorded')::text = 'null' ORDER BY seq LIMIT ${LIST_MAX})
     UNION ALL
     (SELECT 'tool', result -> '${STEP_FAILED}' -> 'message' FROM run_steps
      WHERE run_id = $1 AND kind = 'tool' AND (result -> '${STEP_FAILED}' -> 'code')::text = '"not_recorded"'
      ORDER BY ordinal LIMIT ${LIST_MAX})`,
    [id],
  );
  return error?.type === NOT_RECORDED ? [...rows, { kind: 'wait', message: error.message }] : rows;
}
