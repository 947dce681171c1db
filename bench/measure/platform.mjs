/** A platform for the time of one measurement. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../packages/platform/dist/main.js', import.meta.url));
const UNLIMITED = '1000000000';
const START_MS = 120_000;

/**
 * @returns {Promise<{dir: string, pid: number, local: object, restart: () => Promise<void>, stop: () => Promise<void>}>}
 *   `dir` goes with it, `local` is as in .data/local.json; `restart` resolves once the new processes have been started
 */
export async function startPlatform() {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'gantry-bench-'));
  const data = path.join(dir, 'data');
  const port = String(await freeRange());
  let launcher = launch(data, port);
  await launcher.ready();
  const file = path.join(data, 'local.json');
  if (!existsSync(file)) throw new Error(`${file} is missing`);
  return {
    dir,
    get pid() {
      return launcher.pid;
    },
    local: JSON.parse(readFileSync(file, 'utf8')),
    restart: async () => {
      await launcher.stop();
      launcher = launch(data, port);
    },
    stop: async () => {
      await launcher.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function launch(data, port) {
  const child = spawn(process.execPath, [main], {
    env: {
      ...process.env,
      GANTRY_DATA_DIR: data,
      GANTRY_PORT: port,
      RATE_LIMIT_REQUESTS_PER_MINUTE: UNLIMITED,
      RATE_LIMIT_RUNS_PER_MINUTE: UNLIMITED,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const deadline = Date.now() + START_MS;
  return {
    pid: child.pid,
    ready: async () => {
      while (!said.includes('Gantry is running')) {
        if (child.exitCode !== null || Date.now() > deadline) throw new Error(`the platform did not start:\n${said}`);
        await sleep(100);
      }
    },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** A first port whose platform's ports are, as far as a look at the first and last tells, nobody's. */
async function freeRange() {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    if ((await isFree(first)) && (await isFree(first + 1)) && (await isFree(first + 105))) return first;
  }
}

const isFree = (port) =>
  new Promise((resolve) => {
    const server = net.createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
