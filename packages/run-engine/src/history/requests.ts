/** Streams outgoing requests of runs, as their executors reported them. */
import { REQUESTS_MAX } from '@gantry/events';
import { hasRow, type Sql } from '@gantry/postgres';
import { ATTEMPT_SPAN } from '../run-events';
import { streamEvents } from './read-events';

export interface RunRequest {
  /** Number of the event within its run. */
  seq: number;
  /** Time of its end. */
  at: Date;
  data: {
    method: string | null;
    scheme: 'http' | 'https';
    host: string;
    port: number;
    path: string | null;
    status: number | null;
    bytes_sent: number;
    bytes_received: number;
    duration_ms: number;
    credentials: string[];
    problem: { kind: 'refused' | 'failed'; message: string } | null;
    /** `answer_recorded`: present if the response is recorded for rehearsals. */
    echoed?: number;
    answer_recorded?: true;
  };
}

export interface RequestFilter {
  /** The full name, case-insensitive. */
  host?: string | undefined;
  problem?: 'refused' | 'failed' | undefined;
}

/** Streams a run's requests after `after`, in the order of their ends, with one page in memory at a time. */
export const streamRequests = (sql: Sql, runId: string, after = 0): AsyncGenerator<RunRequest> =>
  streamEvents(sql, { runId, type: 'request', after });

export function createRequestMatcher({ host, problem }: RequestFilter): (request: RunRequest) => boolean {
  const name = host?.toLowerCase();
  return ({ data }) =>
    (name === undefined || data.host.toLowerCase() === name) &&
    (problem === undefined || data.problem?.kind === problem);
}

export async function hasRequests(sql: Sql, runId: string): Promise<boolean> {
  const { rows } = await sql.query<{ has: boolean }>(
    `SELECT EXISTS (SELECT FROM run_events WHERE run_id = $1 AND type = 'request') AS has`,
    [runId],
  );
  return rows[0]?.has ?? false;
}

/** Returns whether an attempt has reached the limit of stored requests, so that it may have made more. */
export const hasReachedRequestLimit = (sql: Sql, runId: string): Promise<boolean> =>
  hasRow(
    sql,
    `SELECT FROM run_events WHERE run_id = $1 AND type = 'request'
     GROUP BY seq / ${ATTEMPT_SPAN} HAVING count(*) >= ${REQUESTS_MAX}`,
    [runId],
  );
