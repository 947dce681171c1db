/**
 * What a page of runs costs at ten million runs beside ten thousand:
 *
 *   node bench/runs-list.mjs [--rows 10000000] [--reads 100] [--export]
 *
 * Starts a platform of its own and fills worker-api's database with SQL, in two steps, so that both sizes are measured in
 * one run on the same process. Two runs in three are the caller's workspace's, spread over twenty workers of which one has
 * half of them; the rest belongs to twenty other workspaces. 93 of 100 completed; other statuses and triggers are as rare
 * as in real life. Measured are the first page and the thousandth behind a cursor (or the middle of a shorter list),
 * through the service's own SQL and through HTTP, and how many blocks (8 KB) PostgreSQL touched for them: that number does
 * not depend on the machine.
 *
 * With --export, the whole history is downloaded as CSV as well, at full speed and then slowly, with the memory of worker-api.
 */
import http from 'node:http';
import { createRequire } from 'node:module';
import { createClient } from './measure/client.mjs';
import { connectDatabase } from './measure/database.mjs';
import { parseOptions } from './measure/options.mjs';
import { startPlatform } from './measure/platform.mjs';
import { byKind, processTree } from './measure/processes.mjs';
import { median, quantile, round, timed } from './measure/stats.mjs';

// The bench has no dependencies of its own.
const service = createRequire(new URL('../services/worker-api/package.json', import.meta.url));
const { listRunPage } = service('@gantry/run-engine');

const options = parseOptions({ rows: 10_000_000, reads: 100, export: false });
const SMALL = 10_000;
const CHUNK = 250_000;
const WARM_UP_READS = 5;
const LIMIT = 50;
const DEEP_PAGE = 1_000;

const platform = await startPlatform();
let database;
try {
  database = await connectDatabase(platform, 'worker_api');
  const { workspace_id: workspaceId } = platform.local;
  const workers = await seedWorkers(workspaceId);
  const sizes = [];
  let seeded = 0;
  for (const size of [SMALL, options.rows]) {
    await seed(seeded, size, workspaceId);
    seeded = size;
    sizes.push(await measure(workspaceId, workers, size));
  }
  report(...sizes);
  if (options.export) await exported();
} finally {
  await database?.end();
  await platform.stop();
}

async function seedWorkers(workspaceId) {
  await database.query(
    `INSERT INTO workers (uid, workspace_id, id, name, description, tags, runner, current_version, updated_at)
     SELECT 'wrk_bench' || n, $1, 'bench-' || n, 'Bench ' || n, '', '{}', 'python', 1, now() FROM generate_series(0, 19) n`,
    [workspaceId],
  );
  return { busy: 'bench-0', quiet: 'bench-19' };
}

async function seed(from, to, workspaceId) {
  const began = performance.now();
  await database.query('SET synchronous_commit = off');
  for (let first = from + 1; first <= to; first += CHUNK) {
    const last = Math.min(to, first + CHUNK - 1);
    await database.query(
      `INSERT INTO runs (id, workspace_id, subject_id, subject_ref, kind, trigger, version, status, attempt, inputs, spec, output,
         error, cost_usd, cpu_ms, created_at, available_at, started_at, finished_at)
       SELECT 'run_' || substr(md5(n::text), 1, 13) || lpad(to_hex(n), 8, '0'),
         CASE WHEN home THEN $3 ELSE 'ws_bench' || w % 20 END,
         CASE WHEN home THEN 'wrk_bench' ELSE 'wrk_other' END || (CASE WHEN w < 500 THEN 0 ELSE w % 19 + 1 END),
         CASE WHEN home THEN 'bench-' ELSE 'other-' END || (CASE WHEN w < 500 THEN 0 ELSE w % 19 + 1 END), 'run',
         CASE WHEN t < 700 THEN 'schedule' WHEN t < 900 THEN 'webhook' WHEN t < 980 THEN 'api' WHEN t < 999 THEN 'event'
           ELSE 'replay' END,
         1, s, 1, '{"region": "north"}', '{"files": [], "limits": {"wallMs": 300000}}',
         CASE WHEN s = 'completed' THEN '{"total": 12, "rows": 3401}'::json END,
         CASE WHEN s IN ('failed', 'timed_out') THEN '{"code":"exception","message":"ValueError: no rows in north"}'::json END,
         0.002, 140, at, at, at, at + make_interval(secs => 0.5 + w % 60)
       FROM (
         SELECT n, abs(hashint8(n)) % 3 < 2 AS home, abs(hashint8(n * 7)) % 1000 AS w, abs(hashint8(n * 13)) % 1000 AS t,
           date_trunc('milliseconds', now() - make_interval(secs => ($4::bigint - n) / 2.0)) AS at,
           CASE WHEN x < 93000 THEN 'completed' WHEN x < 97500 THEN 'failed' WHEN x < 98700 THEN 'timed_out'
             WHEN x < 99950 THEN 'cancelled' WHEN x < 99995 THEN 'rejected' ELSE 'pending_approval' END AS s
         FROM (SELECT n, abs(hashint8(n * 31)) % 100000 AS x FROM generate_series($1::bigint, $2::bigint) n) a
       ) b`,
      [first, last, workspaceId, options.rows],
    );
  }
  await database.query('VACUUM ANALYZE runs');
  const { rows } = await database.query("SELECT pg_size_pretty(pg_total_relation_size('runs')) AS size");
  console.log(`\nseeded up to ${to} runs (${rows[0].size}) in ${round((performance.now() - began) / 1000, 1)} s`);
}

/** @returns what each variant cost, by its name */
async function measure(workspaceId, { busy, quiet }, size) {
  const uidOf = (worker) => worker.replace('bench-', 'wrk_bench');
  const filters = {
    'no filter': {},
    'busy worker': { worker_id: busy },
    'quiet worker': { worker_id: quiet },
    'status completed': { status: 'completed' },
    'status failed': { status: 'failed' },
    'status pending_approval': { status: 'pending_approval' },
    'trigger schedule': { trigger: 'schedule' },
    'trigger replay': { trigger: 'replay' },
    'busy worker, failed': { worker_id: busy, status: 'failed' },
    'busy worker, replay': { worker_id: busy, trigger: 'replay' },
    'failed, replay': { status: 'failed', trigger: 'replay' },
    'busy worker hidden': { hidden: [uidOf(busy)] },
  };
  const call = createClient(platform.local.token);
  const measured = {};
  for (const [name, { worker_id, status, trigger, hidden = [] }] of Object.entries(filters)) {
    const filter = {
      statuses: status ? [status] : [],
      hidden,
      ...(worker_id && { subjectId: uidOf(worker_id) }),
      ...(trigger && { trigger }),
    };
    const asked = { ...(worker_id && { worker_id }), ...(status && { status }), ...(trigger && { trigger }) };
    for (const [page, before] of [['first page'], ['deep page', await deepCursor(workspaceId, filter, size)]]) {
      const cursor = before && { before_created_at: before.createdAt.toISOString(), before_id: before.id };
      const url = `${platform.local.base_url}/api/runs?${new URLSearchParams({ limit: LIMIT, ...asked, ...cursor })}`;
      const sql = () => listRunPage(database, workspaceId, filter, { limit: LIMIT, before, withJson: true });
      measured[`${name}, ${page}`] = {
        ...(await explained(workspaceId, filter, before)),
        sqlMs: await timeReads(sql),
        // Hiding is by who asks, and the bench asks as the owner.
        httpMs: hidden.length ? null : await timeReads(() => call('GET', url)),
      };
    }
  }
  return measured;
}

/** Where the thousandth page begins, or the middle of a list that is shorter. */
async function deepCursor(workspaceId, filter, size) {
  const { subjectId, statuses, trigger, hidden } = filter;
  const deepest = Math.min(DEEP_PAGE * LIMIT, size);
  const { rows } = await database.query(
    `WITH found AS MATERIALIZED (
       SELECT created_at, id FROM runs WHERE workspace_id = $1 AND ($2::text IS NULL OR subject_id = $2)
         AND ($3::text IS NULL OR status = $3) AND ($4::text IS NULL OR trigger = $4) AND subject_id <> ALL($5)
       ORDER BY created_at DESC, id DESC LIMIT $6
     )
     SELECT created_at AS "createdAt", id FROM found ORDER BY created_at DESC, id DESC
     OFFSET (SELECT CASE WHEN count(*) = $6 THEN $6 - 1 ELSE count(*) / 2 END FROM found) LIMIT 1`,
    [workspaceId, subjectId ?? null, statuses[0] ?? null, trigger ?? null, hidden, deepest],
  );
  return rows[0];
}

/** The statements of one page under EXPLAIN: blocks that they touched, and whether one read the whole table. */
async function explained(workspaceId, filter, before) {
  let blocks = 0;
  let scans = 0;
  const explaining = {
    query: async (text, values) => {
      const { rows } = await database.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values);
      const { Plan: plan } = rows[0]['QUERY PLAN'][0];
      blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      scans += (JSON.stringify(plan).match(/"Seq Scan"/g) ?? []).length;
      return database.query(text, values);
    },
  };
  const { runs } = await listRunPage(explaining, workspaceId, filter, { limit: LIMIT, before, withJson: true });
  return { blocks, scans, runs: runs.length };
}

async function timeReads(work) {
  const ms = [];
  for (let i = 0; i < WARM_UP_READS + options.reads; i++) ms.push(await timed(work));
  return ms.slice(WARM_UP_READS);
}

function report(small, large) {
  const rows = Object.keys(large).map((name) => {
    const [a, b] = [small[name], large[name]];
    const both = (of) => (a[of] && b[of] ? [median(a[of]), median(b[of])] : [Number.NaN, Number.NaN]);
    const [sqlSmall, sqlLarge] = both('sqlMs');
    const [httpSmall, httpLarge] = both('httpMs');
    return [
      name,
      {
        runs: `${a.runs} / ${b.runs}`,
        blocks: `${a.blocks} / ${b.blocks}`,
        'SQL p50 ms': `${round(sqlSmall)} / ${round(sqlLarge)}`,
        'SQL ratio': round(sqlLarge / sqlSmall),
        'HTTP p50 ms': `${round(httpSmall)} / ${round(httpLarge)}`,
        'HTTP p99 ms': b.httpMs ? round(quantile(b.httpMs, 0.99)) : null,
        'HTTP ratio': round(httpLarge / httpSmall),
        'seq scans': b.scans,
      },
    ];
  });
  console.log(`\nA page of ${LIMIT} runs: ${SMALL} runs / ${options.rows} runs`);
  console.table(Object.fromEntries(rows));
}

/** The service's memory while somebody downloads everything, as fast as it comes and then at 4 MB/s. */
async function exported() {
  const rss = () => byKind(processTree(platform.pid))['worker-api'].rssMB;
  for (const bytesPerSecond of [Number.POSITIVE_INFINITY, 4 << 20]) {
    const before = rss();
    const began = performance.now();
    let [most, lines, bytes] = [before, 0, 0];
    const sampling = setInterval(() => {
      most = Math.max(most, rss());
    }, 250);
    const headers = { Authorization: `Bearer ${platform.local.token}` };
    const answer = await new Promise((resolve, reject) => {
      http.get(`${platform.local.base_url}/api/runs/export.csv`, { headers }, resolve).once('error', reject);
    });
    for await (const chunk of answer) {
      bytes += chunk.length;
      for (const byte of chunk) if (byte === 10) lines++;
      const early = bytes / bytesPerSecond - (performance.now() - began) / 1000;
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early * 1000));
    }
    clearInterval(sampling);
    const seconds = (performance.now() - began) / 1000;
    console.log(
      `\nexport.csv: ${lines - 1} runs, ${round(bytes / 2 ** 20, 1)} MB in ${round(seconds, 1)} s; worker-api ${round(before, 0)} MB before, ${round(most, 0)} MB at most, ${round(rss(), 0)} MB after`,
    );
  }
}
