/** Requests and calls of a rehearsal that got no answer, because the run that it is of has no record of them. */
import { STEP_FAILED } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import { NOT_RECORDED } from '../recorded-answers';
import type { Run } from '../run';

export interface Unrecorded {
  /** `wait`: a person or another worker was asked, which ended the rehearsal. */
  kind: 'request' | 'tool' | 'wait';
  /** A sentence about it: what was asked, and what was recorded. */
  message: string;
}

/** Of each kind. */
const MOST = 20;

/** In the order in which it was asked, first requests, then tools; at most 20 of each. Empty: what came of it can be compared. */
export async function listUnrecorded(sql: Sql, { id, error, spec }: Run): Promise<Unrecorded[]> {
  const { rows } = await sql.query<Unrecorded>(
    `(SELECT 'request' AS kind, data -> 'problem' -> 'message' AS message FROM run_events
      WHERE run_id = $1 AND type = 'request' AND ((data -> 'recorded')::text = 'null'
        OR $2 AND data -> 'problem' ->> 'kind' = 'refused') ORDER BY seq LIMIT ${MOST})
     UNION ALL
     (SELECT 'tool', result -> '${STEP_FAILED}' -> 'message' FROM run_steps
      WHERE run_id = $1 AND kind = 'tool' AND (result -> '${STEP_FAILED}' -> 'code')::text = '"not_recorded"'
      ORDER BY ordinal LIMIT ${MOST})`,
    // Code that nobody has read is refused hosts that its worker may reach.
    [id, spec.rehearsal?.isUnread === true],
  );
  return error?.type === NOT_RECORDED ? [...rows, { kind: 'wait', message: error.message }] : rows;
}
