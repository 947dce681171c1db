/**
 * What one workspace waits beside another that has thousands of runs queued:
 *   node bench/fairness.mjs [--queued 5000 --runs 60 --busy-ms 200]
 *
 * Starts a platform of its own. The crowd is rows in the table, copied from a run that the API has made and given to another
 * workspace: the executor runs all of them. The small workspace runs the same program, one run at a time: alone, beside the
 * crowd, and alone again, to show what the machine itself does meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, deploy } from './measure/client.mjs';
import { connectDatabase } from './measure/database.mjs';
import { parseOptions } from './measure/options.mjs';
import { startPlatform } from './measure/platform.mjs';
import { median, printLatencies, round } from './measure/stats.mjs';
import { zipOf } from './measure/zip.mjs';

const { queued: QUEUED, runs: RUNS, 'busy-ms': MS } = parseOptions({ queued: 5_000, runs: 60, 'busy-ms': 200 });
/** A queue that is shorter than this by then was worked off too fast to say anything. */
const LEFT_MIN = QUEUED / 10;

const MANIFEST = { name: 'Wait', inputs: [{ name: 'ms', type: 'integer' }], outputs: ['ms'] };
const CODE = 'import time\n\ndef run(ms):\n    time.sleep(ms / 1000)\n    return {"ms": ms}\n';

const platform = await startPlatform();
let database;
try {
  database = await connectDatabase(platform, 'automation_api');
  const { local } = platform;
  const call = createClient(local.token);
  const id = await deploy(local, await zipOf({ 'main.py': CODE }), MANIFEST);
  const run = () => call('POST', `${local.dashboard_url}/api/automations/${id}/run`, { inputs: { ms: MS }, wait: 10 });
  for (let i = 0; i < 5; i++) await run();

  const alone = await measure(run, call, local);
  await crowd((await run()).runId);
  const slots = await count('running');
  const beside = await measure(run, call, local);
  const left = await count('queued');
  await disperse();
  const again = await measure(run, call, local);

  console.log(
    `\n${QUEUED} runs of ${MS} ms queued by another workspace, ${slots} of them under way; ${left} left at the end`,
  );
  printLatencies({
    'alone: run and wait': alone.total,
    'beside: run and wait': beside.total,
    'alone again: run and wait': again.total,
  });
  console.log(`until it was handed out, p50: ${median(alone.waits)} ms alone, ${median(beside.waits)} ms beside`);
  console.log(`run and wait, beside / alone: ${round(median(beside.total) / median(alone.total))} at p50`);
  if (left < LEFT_MIN) console.log('The queue was nearly worked off: use more, or longer, runs.');
} finally {
  await database?.end();
  await platform.stop();
}

async function measure(run, call, local) {
  const total = [];
  const waits = [];
  for (let i = 0; i < RUNS; i++) {
    const began = performance.now();
    const { runId, status } = await run();
    total.push(performance.now() - began);
    if (status !== 'success') throw new Error(`${runId}: ${status}`);
    const { createdAt, startedAt } = await call('GET', `${local.dashboard_url}/api/runs/${runId}`);
    waits.push(startedAt - createdAt);
  }
  return { total, waits };
}

async function crowd(model) {
  await database.query(
    `INSERT INTO runs (id, workspace_id, subject_id, kind, trigger, version, status, inputs, spec)
     SELECT 'run_bench' || n, 'ws_bench', 'aut_bench', kind, trigger, version, 'queued', inputs, spec
     FROM runs, generate_series(1, $2::int) n WHERE id = $1`,
    [model, QUEUED],
  );
  await database.query('ANALYZE runs');
  await sleep(2_000);
}

async function count(status) {
  const { rows } = await database.query(
    `SELECT count(*)::int AS n FROM runs WHERE workspace_id = 'ws_bench' AND status = $1`,
    [status],
  );
  return rows[0].n;
}

async function disperse() {
  await database.query(`DELETE FROM runs WHERE workspace_id = 'ws_bench' AND status = 'queued'`);
  while (await count('running')) await sleep(100);
}
