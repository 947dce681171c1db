/**
 * What the command line adds to Node and to curl:
 *
 *   node bench/cli.mjs [--times 60]
 *
 * Starts a platform of its own, and interleaves: Node without a program, `gantry --version`, a run that two calls of curl start and
 * follow to its end, and the same run with `gantry run --wait`.
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from './measure/client.mjs';
import { parseOptions } from './measure/options.mjs';
import { startPlatform } from './measure/platform.mjs';
import { median, printLatencies, round, timeInterleaved } from './measure/stats.mjs';

const { times } = parseOptions({ times: 60 });
const GANTRY = fileURLToPath(new URL('../packages/cli/dist/gantry.mjs', import.meta.url));
const WORKER = {
  name: 'Add',
  inputs: [{ name: 'a', type: 'integer' }],
  files: [{ path: 'main.py', content: 'def run(a):\n    return a + 1\n' }],
};
/** Arguments: address of the worker surface, token, id of the worker. */
const WITH_CURL = `
id=$(curl -sf "$1/api/workers/$3/runs" -H "Authorization: Bearer $2" -H 'Content-Type: application/json' -d '{"inputs":{"a":1}}' \\
  | sed 's/.*"run_id":"\\([^"]*\\)".*/\\1/')
curl -sfN "$1/api/runs/$id/stream" -H "Authorization: Bearer $2"`;

const platform = await startPlatform();
try {
  const { base_url: baseUrl, token } = platform.local;
  const { id } = await createClient(token)('POST', `${baseUrl}/api/workers`, WORKER);
  const env = {
    ...process.env,
    GANTRY_URL: baseUrl,
    GANTRY_TOKEN: token,
    GANTRY_CONFIG_DIR: path.join(platform.dir, 'config'),
  };
  const steps = {
    'node, no program': () => execute(process.execPath, ['-e', '0'], env),
    'gantry --version': () => execute(process.execPath, [GANTRY, '--version'], env),
    'start and follow a run, curl': () => execute('sh', ['-c', WITH_CURL, 'sh', baseUrl, token, id], env),
    'gantry run --wait': () => execute(process.execPath, [GANTRY, 'run', id, '-i', 'a=1', '--wait'], env),
  };
  // The first of each fills caches.
  await timeInterleaved(steps, 1);
  const ms = await timeInterleaved(steps, times);
  printLatencies(ms);
  const [node, version, curl, run] = Object.values(ms).map(median);
  console.log(`gantry --version / node: ${round(version / node)}, ${round(version - node)} ms more`);
  console.log(`gantry run --wait / curl: ${round(run / curl)}, ${round(run - curl)} ms more`);
} finally {
  await platform.stop();
}

function execute(command, args, env) {
  return new Promise((resolve, reject) => {
    execFile(command, args, { env }, (err, stdout, stderr) =>
      err ? reject(new Error(`${err.message}\n${stderr}`)) : resolve(stdout),
    );
  });
}
