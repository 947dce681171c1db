/**
 * Size and list latency while runs come and go:
 *
 *   node bench/aging.mjs [--rate 10] [--days 35] [--run-days 14] [--log-days 7]
 *
 * Starts a platform of its own and lets time pass a day at a step, ahead of the clock: a day's runs are written with SQL at
 * `rate` runs per second of that time, each with six events and a step, one in five with an artifact; then the service's own
 * sweeps run as if the day were over. The defaults make 30 million runs, and keep 12 million: leave 60 GB free. While a sweep
 * is under way, events of a live run are written as ingest writes them, and the slowest is told. A sweep that fails is counted
 * and does not end the bench. Objects are counted only.
 */
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from './measure/client.mjs';
import { openPool } from './measure/database.mjs';
import { parseOptions } from './measure/options.mjs';
import { startPlatform } from './measure/platform.mjs';
import { median, quantile, round, timed } from './measure/stats.mjs';

// The bench has no dependencies of its own.
const service = createRequire(new URL('../services/worker-api/package.json', import.meta.url));
const { deleteExpiredEvents, deleteExpiredRuns, DEFAULT_RETENTION } = service('@gantry/run-engine');

const options = parseOptions({ rate: 10, days: 35, 'run-days': 14, 'log-days': 7 });
const DAY_MS = 86_400_000;
const DAY_RUNS = Math.round(options.rate * 86_400);
const CHUNK = 100_000;
const READS = 50;
const TABLES = ['runs', 'run_events', 'run_steps', 'run_artifacts'];
const bounds = {
  ...DEFAULT_RETENTION,
  defaults: { runDays: options['run-days'], logDays: options['log-days'], runsKept: 20 },
};

const platform = await startPlatform();
const { workspace_id: workspaceId, token, base_url } = platform.local;
const pool = openPool(platform, 'worker_api');
const began = Date.now();
let folders = 0;
/** Number of the last event that was written during a sweep. */
let live = 0;
const objects = { delete: async () => {}, deleteFolder: async () => void folders-- };
try {
  // Days of rows are loaded in minutes: the log that recovers them is not what is measured.
  for (const setting of ["max_wal_size = '8GB'", "checkpoint_timeout = '30min'", 'full_page_writes = off']) {
    await pool.query(`ALTER SYSTEM SET ${setting}`);
  }
  await pool.query('SELECT pg_reload_conf()');
  await pool.query(
    `INSERT INTO workers (uid, workspace_id, id, name, description, tags, runner, current_version, updated_at)
     SELECT 'wrk_bench' || n, $1, 'bench-' || n, 'Bench ' || n, '', '{}', 'python', 1, now() FROM generate_series(0, 19) n`,
    [workspaceId],
  );
  const told = [];
  for (let day = 0; day < options.days; day++) {
    const at = new Date(began + (day + 1) * DAY_MS);
    await sweep(new Date(began + day * DAY_MS));
    await writeDay(day);
    const swept = await sweep(at);
    await vacuum();
    told.push({ day: day + 1, ...(await sizes()), ...(await page()), ...swept });
    console.log(JSON.stringify(told.at(-1)));
  }
  report(told);
} finally {
  await pool.end();
  await platform.stop();
}

async function writeDay(day) {
  const client = await pool.connect();
  await client.query('SET synchronous_commit = off; SET statement_timeout = 0');
  for (let first = day * DAY_RUNS; first < (day + 1) * DAY_RUNS; first += CHUNK) {
    const last = Math.min((day + 1) * DAY_RUNS, first + CHUNK) - 1;
    const { rows } = await client.query(
      `INSERT INTO runs (id, workspace_id, subject_id, subject_ref, kind, trigger, version, status, attempt, inputs, spec, output,
         cost_usd, cpu_ms, created_at, available_at, started_at, finished_at)
       SELECT 'run_' || lpad(floor(extract(epoch FROM at))::text, 10, '0') || substr(md5(n::text), 1, 11), $3,
         'wrk_bench' || n % 20, 'bench-' || n % 20, 'run', 'schedule', 1, 'completed', 1, '{"region": "north"}',
         '{"files": [], "limits": {"wallMs": 300000}}', '{"total": 12, "rows": 3401}', 0.002, 140, at, at, at,
         at + make_interval(secs => 2)
       FROM (SELECT n, $4::timestamptz + make_interval(secs => n / $5::float8) AS at FROM generate_series($1::bigint, $2::bigint) n) a
       RETURNING id`,
      [first, last, workspaceId, new Date(began), options.rate],
    );
    const ids = rows.map(({ id }) => id);
    folders += ids.length;
    await client.query(
      `INSERT INTO run_events (run_id, seq, at, type, data)
       SELECT id, 1000000 + e, now(), CASE WHEN e IN (1, 6) THEN 'status' ELSE 'log' END,
         json_build_object('stream', 'stdout', 'level', 'info', 'text', repeat('a line of the log ', 4) || e)
       FROM unnest($1::text[]) id CROSS JOIN generate_series(1, 6) e`,
      [ids],
    );
    await client.query(
      `INSERT INTO run_steps (run_id, ordinal, kind, name, status, result)
       SELECT id, 1, 'step', 'fetch', 'completed', '{"rows": 3401}' FROM unnest($1::text[]) id`,
      [ids],
    );
    await client.query(
      `INSERT INTO run_artifacts (id, run_id, workspace_id, name, content_type, size, sha256, key)
       SELECT 'ra_' || id, id, $2, 'report.csv', 'text/csv', 1000, repeat('a', 64), $2 || '/runs/' || id || '/1/report.csv'
       FROM unnest($1::text[]) WITH ORDINALITY AS made(id, n) WHERE n % 5 = 0`,
      [ids, workspaceId],
    );
  }
  client.release(true);
}

/** As autovacuum would have done in the course of the day. */
async function vacuum() {
  const client = await pool.connect();
  await client.query('SET statement_timeout = 0');
  await client.query(`VACUUM (ANALYZE) ${TABLES.join(', ')}`);
  client.release(true);
}

/** As housekeeping does it, hour after hour until nothing is left to do. */
async function sweep(at) {
  const began = performance.now();
  const deps = { pool, objects, bounds, now: () => at };
  const waits = [];
  let isOver = false;
  const writer = writeLive(waits, () => isOver);
  let deleted = 0;
  let failed = 0;
  try {
    await deleteExpiredEvents(deps);
    for (let some = 1; some; deleted += some) some = await deleteExpiredRuns(deps);
  } catch (error) {
    // Housekeeping tries again at its next turn: what this one left goes with the next day's.
    failed = 1;
    console.error('A sweep failed:', error);
  } finally {
    isOver = true;
    await writer;
  }
  const seconds = (performance.now() - began) / 1_000;
  const slowest = Math.max(...waits);
  return { deleted, failed, sweepSeconds: round(seconds, 1), slowestWriteMs: round(slowest, 0), writes: waits.length };
}

async function writeLive(waits, isOver) {
  while (!isOver()) {
    const began = performance.now();
    await pool.query(
      `INSERT INTO run_events (run_id, seq, at, type, data)
       SELECT 'run_' || lpad($1, 10, '0') || 'live-events', $2::bigint + n, now(), 'log', '{}' FROM generate_series(1, 10) n`,
      [String(Math.floor(Date.now() / 1_000)), live],
    );
    live += 10;
    waits.push(performance.now() - began);
    await sleep(20);
  }
}

async function sizes() {
  const { rows } = await pool.query(
    `SELECT (SELECT count(*) FROM runs)::int AS runs, t AS table,
       (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(t::regclass))::float8 AS partitions,
       pg_total_relation_size(t::regclass)::float8 AS plain
     FROM unnest($1::text[]) t`,
    [TABLES],
  );
  const bytes = Object.fromEntries(rows.map((row) => [row.table, row.partitions || row.plain]));
  return { runs: rows[0].runs, objects: folders, bytes };
}

async function page() {
  const call = createClient(token);
  const ms = [];
  for (let read = 0; read < READS; read++) ms.push(await timed(() => call('GET', `${base_url}/api/runs?limit=50`)));
  return { listP50Ms: round(median(ms)), listP90Ms: round(quantile(ms, 0.9)) };
}

function report(told) {
  const MB = 1 << 20;
  console.table(
    told.map(({ bytes, ...rest }) => ({
      ...rest,
      ...Object.fromEntries(TABLES.map((table) => [`${table} MB`, round(bytes[table] / MB, 1)])),
    })),
  );
  const made = DAY_RUNS * Math.min(options['log-days'], told.length);
  const first = told[Math.min(options['log-days'], told.length) - 1];
  console.log('Bytes per run, with its indexes, before anything aged:');
  console.table(Object.fromEntries(TABLES.map((table) => [table, Math.round(first.bytes[table] / made)])));
}
