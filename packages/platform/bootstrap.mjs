/**
 * `npm start`, `npm test`, `npm run backup`, `restore` and `bench`, and the build of images, where Node and npm are and nothing
 * else: installs and builds what changed since the last time, then hands over. Plain JavaScript without dependencies, because
 * there are none yet.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const PNPM = 'pnpm@10.34.9';
const NODE_MIN = [20, 19];
/** How often a step that takes long says so where nobody can see a line change. */
const STILL_WORKING_MS = 10_000;
const LOCK_POLL_MS = 200;

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const startedAt = Date.now();
const [command, ...args] = process.argv.slice(2);

const elapsed = () => `${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s`;
const say = (text) => process.stdout.write(`[${elapsed()}] ${text}\n`);

function fail(message) {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  fail(`Gantry needs Node ${NODE_MIN.join('.')} or newer; this is ${process.versions.node} (https://nodejs.org)`);
}

/** npm, pnpm and their like keep caches at home: where that is somebody else's or read-only, ours serves. */
function environment() {
  const env = { ...process.env, CI: 'true', npm_config_yes: 'true', TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };
  try {
    fs.accessSync(os.homedir(), fs.constants.W_OK | fs.constants.X_OK);
  } catch {
    env.HOME = path.join(root, '.data/home');
    env.npm_config_cache = path.join(env.HOME, '.npm');
    for (const name of ['npm_config_userconfig', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'PNPM_HOME']) {
      delete env[name];
    }
    fs.mkdirSync(path.join(root, '.data'), { recursive: true, mode: 0o700 });
    fs.mkdirSync(env.npm_config_cache, { recursive: true });
  }
  return env;
}

/** Runs one step; its output is shown only if it fails. */
async function step(title, file, argv, env, cwd = root) {
  say(title);
  const begin = Date.now();
  const child = spawn(file, argv, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  let last = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output.push(chunk);
      last = stripVTControlCharacters(String(chunk)).trim().split('\n').pop().slice(0, 60) || last;
    });
  }
  const stop = (signal) => {
    child.kill(signal);
    process.exit(130);
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
  const timer = process.stdout.isTTY
    ? setInterval(() => process.stdout.write(`\r\x1b[K[${elapsed()}]   ${title}${last && `: ${last}`}`), 1_000)
    : setInterval(() => say(`  ${title}${last && `: ${last}`}`), STILL_WORKING_MS);
  const code = await new Promise((resolve) => child.once('error', resolve).once('close', resolve));
  clearInterval(timer);
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, stop);
  if (process.stdout.isTTY && Date.now() - begin > 1_000) process.stdout.write('\r\x1b[K');
  return { ok: code === 0, output: Buffer.concat(output).toString() };
}

async function mustSucceed(title, file, argv, env, cwd) {
  const { ok, output } = await step(title, file, argv, env, cwd);
  if (!ok) fail(`${output.trim()}\n\nThis failed: ${title}`);
}

const groups = ['services', 'packages'];
const projects = () =>
  [
    ...groups.flatMap((group) => fs.readdirSync(path.join(root, group)).map((name) => path.join(group, name))),
    'bench',
  ].filter((project) => fs.existsSync(path.join(root, project, 'package.json')));

function stampOf(parts) {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}`);
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** What decides what is installed. */
function dependencyStamp() {
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc', 'package.json'];
  files.push(...projects().map((project) => path.join(project, 'package.json')));
  return stampOf(
    files.map((file) => (fs.existsSync(path.join(root, file)) ? fs.readFileSync(path.join(root, file)) : '')),
  );
}

const notSource = new Set(['node_modules', 'dist', 'generated', '.turbo', 'coverage', '__pycache__']);

/** Name, size and time of every file that a build reads: a second start needs no look inside them. */
function sourceStamp() {
  const entries = ['tsconfig.base.json', 'turbo.json', 'pnpm-lock.yaml'];
  const walk = (dir) => {
    for (const entry of fs.readdirSync(path.join(root, dir), { withFileTypes: true })) {
      const name = path.join(dir, entry.name);
      if (notSource.has(entry.name)) continue;
      if (entry.isDirectory()) walk(name);
      else entries.push(name);
    }
  };
  for (const dir of [...groups, 'openapi']) walk(dir);
  return stampOf(
    entries.sort().map((name) => {
      const { size, mtimeMs } = fs.statSync(path.join(root, name));
      return `${name} ${size} ${mtimeMs}\n`;
    }),
  );
}

const built = () =>
  projects().every((project) => {
    const file = path.join(root, project, 'package.json');
    const { scripts = {} } = JSON.parse(fs.readFileSync(file, 'utf8'));
    return !scripts.build || fs.existsSync(path.join(root, project, 'dist'));
  });

const stampFile = (name) => path.join(root, 'node_modules', `.gantry-${name}`);
const isDone = (name, stamp) => fs.existsSync(stampFile(name)) && fs.readFileSync(stampFile(name), 'utf8') === stamp;

async function done(name, stamp, work) {
  await work();
  fs.writeFileSync(stampFile(name), stamp);
}

/**
 * One at a time installs and builds in a checkout: two may start there, with a data directory each. The lock is a name that
 * the kernel frees with the process, however that ends; outside of Linux there is none.
 */
async function alone(work) {
  const lock = net.createServer();
  const name = `\0gantry-build-${createHash('sha256').update(root).digest('hex')}`;
  for (let isFirst = true; ; isFirst = false) {
    try {
      await once(lock.listen(name), 'listening');
      break;
    } catch (err) {
      if (err.code !== 'EADDRINUSE') break;
      if (isFirst) say('waiting for another start of this checkout, which installs or builds');
      await delay(LOCK_POLL_MS);
    }
  }
  await work();
  lock.close();
}

async function installAndBuild(env) {
  const pnpm = (...rest) => ['-y', PNPM, ...rest];
  const dependencies = dependencyStamp();
  if (!isDone('installed', dependencies)) {
    await done('installed', dependencies, () =>
      mustSucceed(
        'installing dependencies',
        'npx',
        pnpm('install', '--frozen-lockfile', '--config.confirm-modules-purge=false', '--reporter=append-only'),
        env,
      ),
    );
  }
  const sources = sourceStamp();
  if (built() && isDone('built', sources)) return;
  if (command === 'test' || command === 'bench') {
    const turbo = ['exec', 'turbo', 'run', 'build', '--output-logs=new-only', '--ui=stream'];
    await done('built', sources, () => mustSucceed('building', 'npx', pnpm(...turbo), env));
  } else if (!built() || !isDone('built-for-start', sources)) {
    say('compiling');
    const { buildForStart } = await import('./build-for-start.mjs');
    const run = (title, cwd, [file, ...argv], more) =>
      mustSucceed(title, path.resolve(cwd, file), argv, { ...env, ...more }, cwd);
    await done('built-for-start', sources, () => buildForStart(root, run));
  }
}

const bin = (name) => path.join(root, 'node_modules/.bin', name);

async function runTests(env) {
  const failed = [];
  const named = args.some((arg) => !arg.startsWith('-'));
  if (!named) {
    const checks = [
      ['format and lint', bin('biome'), ['check', '.']],
      ['boundaries', bin('depcruise'), ['--config', '.dependency-cruiser.cjs', 'services', 'packages']],
      ['folders', bin('depcruise'), ['--config', '.dependency-cruiser.folders.cjs', 'services', 'packages']],
      ['types', 'npx', ['-y', PNPM, 'exec', 'turbo', 'run', 'typecheck', '--output-logs=errors-only', '--ui=stream']],
    ];
    const outcomes = await Promise.all(checks.map(([title, file, argv]) => step(`checking ${title}`, file, argv, env)));
    for (const [index, { ok, output }] of outcomes.entries()) {
      if (ok) continue;
      failed.push(checks[index][0]);
      process.stdout.write(`${output.trim()}\n`);
    }
    if (failed.length) say(`these checks failed: ${failed.join(', ')}`);
  }
  say('testing');
  const testEnv = { ...process.env, HOME: env.HOME, GANTRY_FAILED_CHECKS: String(failed.length) };
  const code = await handOver(process.execPath, [path.join(root, 'node_modules/jest/bin/jest.js'), ...args], testEnv);
  return failed.length ? 1 : code;
}

function handOver(file, argv, env) {
  const child = spawn(file, argv, { cwd: root, env, stdio: 'inherit' });
  // The terminal sends its signals to the child as well, which decides.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('error', () => resolve(1)).once('close', (code) => resolve(code ?? 1)));
}

function platform(main) {
  process.env.GANTRY_STARTED_AT = String(startedAt);
  return import(pathToFileURL(path.join(root, 'packages/platform/dist', main)).href);
}

requireNode();
const env = environment();
const commands = {
  /** For images. */
  build: () => {},
  start: () => platform('main.js'),
  backup: () => platform('backup/backup-main.js'),
  restore: () => platform('backup/backup-main.js'),
  test: async () => process.exit(await runTests(env)),
  bench: async () =>
    process.exit(await handOver(process.execPath, [path.join(root, 'bench/run.mjs'), ...args], process.env)),
};
if (!(command in commands)) fail(`usage: bootstrap.mjs ${Object.keys(commands).join(' | ')}`);
await alone(() => installAndBuild(env));
await commands[command]();
