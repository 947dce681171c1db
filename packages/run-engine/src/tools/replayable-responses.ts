/** Loads recorded responses to a run's writing requests for its rehearsals. */
import { RESPONSES_MAX, type ReplayableResponse, replayableResponse } from '@gantry/events';
import { createUnnamedStatement, type Sql } from '@gantry/postgres';
import type { Run } from '../run';

const FIND_RESPONSES = createUnnamedStatement(
  `WITH had AS (
     SELECT (data -> 'recorded')::text AS id FROM run_events WHERE run_id = $id AND type = 'request' AND data -> 'recorded' IS NOT NULL
   )
   SELECT e.seq::float8 AS id, e.data FROM runs o JOIN run_events e ON e.run_id = o.id
   WHERE o.id = $of AND o.workspace_id = $workspace_id AND e.type = 'request' AND e.data -> 'answer' IS NOT NULL
     AND e.seq::text NOT IN (SELECT id FROM had)
   ORDER BY e.seq LIMIT ${RESPONSES_MAX.count}`,
);

/** As reported by a possibly hostile executor. */
interface Row {
  id: number;
  data: Record<string, unknown> & { answer: object };
}

/** Loads responses in recorded order, without those that earlier attempts of the rehearsal have used. */
export async function loadReplayableResponses(sql: Sql, { id, workspaceId, spec }: Run): Promise<ReplayableResponse[]> {
  const of = spec.rehearsal?.of ?? null;
  if (of === null) return [];
  const { rows } = await sql.query(FIND_RESPONSES({ id, of, workspace_id: workspaceId }));
  let bytesLeft = RESPONSES_MAX.bytes;
  return rows.flatMap(({ id, data: { answer, ...request } }: Row) => {
    const { data } = replayableResponse.safeParse({ ...request, ...answer, id });
    bytesLeft -= data?.body.length ?? 0;
    return data && bytesLeft >= 0 ? [data] : [];
  });
}
