/** Registers metrics of the services' half of running code. Each replica counts its own work; the queue is shared. */
import { buildWorkspaceClosedSql, type RunErrorCode, type RunSource } from '@gantry/events';
import { registerGauges } from '@gantry/http';
import type { Pool } from 'pg';
import { Counter, Histogram } from 'prom-client';
import type { Run } from './run';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600];

const claims = new Histogram({
  name: 'gantry_claim_duration_seconds',
  help: 'Duration of one search for queued runs, which hands out as many runs as executors request',
  labelNames: ['source'],
  buckets: SECONDS.slice(0, 11),
});
const waits = new Histogram({
  name: 'gantry_run_wait_seconds',
  help: 'Time from the submission of a run until it is first handed to an executor',
  labelNames: ['source'],
  buckets: SECONDS,
});
const durations = new Histogram({
  name: 'gantry_run_duration_seconds',
  help: 'Time from the submission of a run to its end, including everything that it waited for',
  labelNames: ['source', 'status'],
  buckets: SECONDS,
});
const endings = new Counter({
  name: 'gantry_runs_ended_total',
  help: 'Runs that ended, by status and error code',
  labelNames: ['source', 'status', 'code'],
});

/** Starts at 0, because Prometheus sees no increase when a counter first appears. */
const ALERTED_CODES: RunErrorCode[] = ['executor_lost', 'sandbox'];

const getSecondsSince = (at: Date) => Math.max(0, Date.now() - at.getTime()) / 1_000;

export async function timeClaim<T>(source: RunSource, claim: Promise<T>): Promise<T> {
  const end = claims.startTimer({ source });
  try {
    return await claim;
  } finally {
    end();
  }
}

export function recordClaimedRun(source: RunSource, run: Run): void {
  if (run.attempt === 1) waits.observe({ source }, getSecondsSince(run.createdAt));
}

export function recordEndedRun(source: RunSource, { status, error, createdAt }: Run): void {
  durations.observe({ source, status }, getSecondsSince(createdAt));
  endings.inc({ source, status, code: error?.code ?? '' });
}

/** Bounds the cost of a scrape for long queues. */
const COUNTED_MAX = 50_000;

const buildQueueSql = (condition: string) => `
  SELECT count(*)::int AS runs, coalesce(extract(epoch FROM now() - min(available_at)), 0)::float8 AS "oldestSeconds" FROM (
    SELECT r.available_at FROM runs r
    WHERE r.status = 'queued' AND r.slot_key IS ${condition} AND r.available_at <= now() AND NOT ${buildWorkspaceClosedSql('r.workspace_id')}
    LIMIT ${COUNTED_MAX}
  ) counted`;
/** Each kind has a partial index. */
const QUEUES = `SELECT false AS limited, q.* FROM (${buildQueueSql('NULL')}) q UNION ALL SELECT true, q.* FROM (${buildQueueSql('NOT NULL')}) q`;

const pools = new Map<RunSource, Pool>();

registerGauges(
  ['source', 'limited'],
  {
    gantry_queue_runs:
      'Runs that could be handed out now, with and without a concurrency limit; at most 50,000 of each are counted',
    gantry_queue_oldest_wait_seconds: 'How long the oldest run that could be handed out has waited; 0 if there is none',
  },
  (set) =>
    Promise.all(
      [...pools].map(async ([source, pool]) => {
        for (const { limited, runs, oldestSeconds } of (await pool.query(QUEUES)).rows) {
          const labels = { source, limited: String(limited) };
          set.gantry_queue_runs(labels, runs);
          set.gantry_queue_oldest_wait_seconds(labels, oldestSeconds);
        }
      }),
    ),
);

/** @returns a function that stops the observation */
export function observeQueue(source: RunSource, pool: Pool): () => void {
  pools.set(source, pool);
  for (const code of ALERTED_CODES) endings.inc({ source, status: 'failed', code }, 0);
  return () => {
    if (pools.get(source) === pool) pools.delete(source);
  };
}
