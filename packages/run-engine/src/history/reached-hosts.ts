import type { Sql } from '@gantry/postgres';

const HOSTS_MAX = 50;

/** Lists the hosts that responded to a run, as `name:port`, at most 50. */
export async function listReachedHosts(sql: Sql, runId: string): Promise<string[]> {
  const { rows } = await sql.query<{ host: string }>(
    `SELECT DISTINCT (data ->> 'host') || ':' || (data ->> 'port') AS host FROM run_events
     WHERE run_id = $1 AND type = 'request' AND data ->> 'problem' IS NULL ORDER BY 1 LIMIT ${HOSTS_MAX}`,
    [runId],
  );
  return rows.map(({ host }) => host);
}
