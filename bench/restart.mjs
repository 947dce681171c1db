/**
 * Time from a full restart to the first run of a worker:
 *
 *   node bench/restart.mjs [--times 5]
 *
 * Starts a platform of its own and restarts all of it. Told are the time until `/health` of the worker surface is green, from then
 * until the first run has completed, and the same run a moment later.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from './measure/client.mjs';
import { parseOptions } from './measure/options.mjs';
import { startPlatform } from './measure/platform.mjs';
import { median, printLatencies, round, timed } from './measure/stats.mjs';

const { times } = parseOptions({ times: 5 });
const POLL_MS = 10;
const WARM_RUNS = 20;
const WORKER = {
  name: 'Add',
  inputs: [{ name: 'a', type: 'integer' }],
  files: [{ path: 'main.py', content: 'def run(a):\n    return a + 1\n' }],
};

const platform = await startPlatform();
try {
  const { base_url: baseUrl, token } = platform.local;
  const { id } = await createClient(token)('POST', `${baseUrl}/api/workers`, WORKER);
  const ms = { healthy: [], first: [], warm: [] };
  for (let i = 0; i < times; i++) {
    await platform.restart();
    ms.healthy.push(await timed(() => untilHealthy(baseUrl)));
    const call = createClient(token);
    ms.first.push(await timed(() => run(call, baseUrl, id)));
    for (let n = 0; n < WARM_RUNS; n++) ms.warm.push(await timed(() => run(call, baseUrl, id)));
  }
  printLatencies({
    'restart until health is green': ms.healthy,
    'health is green until the first run has completed': ms.first,
    'a later run': ms.warm,
  });
  console.log(`slowest first run: ${round(Math.max(...ms.first) / 1000, 2)} s after health was green`);
  console.log(`first run / later run: ${round(median(ms.first) / median(ms.warm))}`);
} finally {
  await platform.stop();
}

async function untilHealthy(baseUrl) {
  const isHealthy = () =>
    fetch(`${baseUrl}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isHealthy())) await sleep(POLL_MS);
}

async function run(call, baseUrl, id) {
  const { run_id: runId } = await call('POST', `${baseUrl}/api/workers/${id}/runs`, { inputs: { a: 1 } });
  for (;;) {
    const { status, error } = await call('GET', `${baseUrl}/api/runs/${runId}`);
    if (status === 'completed') return;
    if (error) throw new Error(`the run is ${status}: ${error}`);
    await sleep(POLL_MS);
  }
}
