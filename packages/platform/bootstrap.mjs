/**
 * `npm start`, `npm run dev`, `npm test`, `npm run backup`, `restore` and `bench`, and the build of images, where Node and npm are and nothing
 * else: installs and builds what changed since the last time, then hands over. Plain JavaScript without dependencies, because
 * there are none yet.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const PNPM = 'pnpm@10.34.9';
const NODE_MIN = [20, 19];
/** How often a slow step reports that it is still working, where the output is not a terminal. */
const STILL_WORKING_MS = 10_000;
const LOCK_POLL_MS = 200;

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const startedAt = Number(process.env.GANTRY_STARTED_AT) || Date.now();
const [command, ...args] = process.argv.slice(2);

const formatElapsed = () => `${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s`;
const log = (text) => process.stdout.write(`[${formatElapsed()}] ${text}\n`);

function fail(message) {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
}

function assertNodeVersion() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  fail(`Gantry needs Node ${NODE_MIN.join('.')} or newer; this is ${process.versions.node} (https://nodejs.org)`);
}

/** npm, pnpm and their like keep caches at home: where that belongs to another user or is read-only, ours is used. */
function buildEnvironment() {
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
async function runStep(title, file, argv, env, cwd = root) {
  log(title);
  const begin = Date.now();
  let last = '';
  const stop = () => process.exit(130);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
  const timer = process.stdout.isTTY
    ? setInterval(() => process.stdout.write(`\r\x1b[K[${formatElapsed()}]   ${title}${last && `: ${last}`}`), 1_000)
    : setInterval(() => log(`  ${title}${last && `: ${last}`}`), STILL_WORKING_MS);
  const outcome = await runProcess(file, argv, { cwd, env }, (chunk) => {
    last = stripVTControlCharacters(String(chunk)).trim().split('\n').pop().slice(0, 60) || last;
  });
  clearInterval(timer);
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, stop);
  if (process.stdout.isTTY && Date.now() - begin > 1_000) process.stdout.write('\r\x1b[K');
  return outcome;
}

/** Runs a process that ends with this one. */
async function runProcess(file, argv, options, onOutput = () => {}) {
  const child = spawn(file, argv, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output.push(chunk);
      onOutput(chunk);
    });
  }
  const kill = () => child.kill();
  process.once('exit', kill);
  const code = await new Promise((resolve) => child.once('error', resolve).once('close', resolve));
  process.off('exit', kill);
  return { ok: code === 0, output: Buffer.concat(output).toString() };
}

async function runRequiredStep(title, file, argv, env, cwd) {
  const { ok, output } = await runStep(title, file, argv, env, cwd);
  if (!ok) fail(`${output.trim()}\n\nThis failed: ${title}`);
}

const groups = ['services', 'packages'];
const listProjects = () =>
  [
    ...groups.flatMap((group) => fs.readdirSync(path.join(root, group)).map((name) => path.join(group, name))),
    'bench',
  ].filter((project) => fs.existsSync(path.join(root, project, 'package.json')));

function computeStamp(parts) {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}`);
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** What decides what is installed. */
function computeDependencyStamp() {
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc', 'package.json'];
  files.push(...listProjects().map((project) => path.join(project, 'package.json')));
  return computeStamp(
    files.map((file) => (fs.existsSync(path.join(root, file)) ? fs.readFileSync(path.join(root, file)) : '')),
  );
}

const getStampFile = (name) => path.join(root, 'node_modules', `.gantry-${name}`);
const isStampCurrent = (name, expectedStamp) =>
  fs.existsSync(getStampFile(name)) && fs.readFileSync(getStampFile(name), 'utf8') === expectedStamp;

async function runAndStamp(name, stamp, work) {
  await work();
  fs.writeFileSync(getStampFile(name), stamp);
}

/**
 * One at a time installs and builds in a checkout: two may start there, with a data directory each. The lock is a name that
 * the kernel frees with the process, however that ends; outside of Linux there is none.
 */
async function withBuildLock(work) {
  const lock = net.createServer();
  const name = `\0gantry-build-${createHash('sha256').update(root).digest('hex')}`;
  for (let isFirst = true; ; isFirst = false) {
    try {
      await once(lock.listen(name), 'listening');
      break;
    } catch (err) {
      if (err.code !== 'EADDRINUSE') break;
      if (isFirst) log('waiting for another start of this checkout, which installs or builds');
      await delay(LOCK_POLL_MS);
    }
  }
  await work();
  lock.close();
}

async function installAndBuild(env) {
  const pnpm = (...rest) => ['-y', PNPM, ...rest];
  const dependencies = computeDependencyStamp();
  if (!isStampCurrent('installed', dependencies)) {
    await runAndStamp('installed', dependencies, () =>
      runRequiredStep(
        'installing dependencies',
        'npx',
        pnpm('install', '--frozen-lockfile', '--config.confirm-modules-purge=false', '--reporter=append-only'),
        env,
      ),
    );
  }
  const { buildForStart } = await import('./build-for-start.mjs');
  const run = (title, cwd, [file, ...argv], more) =>
    runRequiredStep(title, path.resolve(cwd, file), argv, { ...env, ...more }, cwd);
  await buildForStart(root, run);
}

const getBinPath = (name) => path.join(root, 'node_modules/.bin', name);
const getTscCommand = (project) => [getBinPath('tsc'), ['-p', project, '--singleThreaded']];
/** By title, a command line each. Types are checked in two programs, which keep what they found in node_modules/.cache. */
const checks = {
  'format and lint': [getBinPath('biome'), ['check', '.']],
  boundaries: [getBinPath('depcruise'), ['--config', '.dependency-cruiser.cjs', 'services', 'packages']],
  folders: [getBinPath('depcruise'), ['--config', '.dependency-cruiser.folders.cjs', 'services', 'packages']],
  types: getTscCommand('tsconfig.json'),
  'types of the dashboard': getTscCommand('packages/dashboard/tsconfig.json'),
};

/**
 * Runs the checks one after the other. The tests go first, but at the lowest priority the checks would wait for every other
 * program of the machine as well. Resolves with the output of each that failed.
 */
async function runChecks(env) {
  const failed = new Map();
  for (const [title, [file, argv]] of Object.entries(checks)) {
    const { ok, output } = await runProcess('nice', ['-n', '5', file, ...argv], { cwd: root, env });
    if (ok) continue;
    failed.set(title, output.trim());
    // Read by packages/testing/jest/summary.cjs, which counts them as failures.
    process.env.GANTRY_FAILED_CHECKS = String(failed.size);
  }
  return failed;
}

/** Options without a value: beside these alone, every other argument names suites or tests. */
const FLAGS = /^(--watch|--watchAll|--verbose|--runInBand|-i|--[a-zA-Z]+=.*)$/;

/** Arguments for Jest. Words that no suite's path matches select the tests whose title, as it is written, contains them. */
function toJestArguments(input) {
  const words = input.filter((arg) => !arg.startsWith('-'));
  const flags = input.filter((arg) => arg.startsWith('-'));
  if (!words.length || !flags.every((flag) => FLAGS.test(flag))) return input;
  const suites = listProjects().flatMap(listSuites);
  // Linear: as the person at the terminal writes it, who alone waits for it.
  if (words.some((word) => suites.some((suite) => new RegExp(word, 'i').test(suite)))) return input;
  const title = words.join(' ');
  const found = suites.filter((suite) => fs.readFileSync(suite, 'utf8').includes(title));
  if (!found.length) return input;
  const pattern = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return [...flags, '--runTestsByPath', ...found, '--testNamePattern', pattern];
}

function listSuites(project) {
  const source = path.join(root, project, 'src');
  if (!fs.existsSync(source)) return [];
  const files = fs.readdirSync(source, { recursive: true }).filter((file) => file.endsWith('.test.ts'));
  return files.map((file) => path.join(source, file));
}

/** Everything has been printed by then. */
const EXIT_MS_MAX = 10_000;

/** Jest in this process, so that its reporters see how many checks have failed beside the tests. */
async function runTests(env) {
  const isWhole = args.every((arg) => arg.startsWith('--') && !arg.startsWith('--watch'));
  const checking = isWhole ? runChecks(env) : new Map();
  log(isWhole ? 'testing, and checking format, lint, boundaries and types beside it' : 'testing');
  process.env.HOME = env.HOME;
  process.env.NODE_ENV ??= 'test';
  process.chdir(root);
  const jest = createRequire(path.join(root, 'package.json'))('jest');
  await jest.run(toJestArguments(args));
  const failed = await checking;
  for (const [title, output] of failed) process.stdout.write(`\n${title}:\n${output}\n`);
  if (failed.size) {
    log(`these checks failed: ${[...failed.keys()].join(', ')}`);
    process.exitCode = 1;
  }
  if (isWhole) setTimeout(endStalledRun, EXIT_MS_MAX).unref();
}

/** A pipe that a process of a failed suite holds would keep this one alive for ever. */
function endStalledRun() {
  log(`the tests have ended, and these keep the process alive: ${process.getActiveResourcesInfo().join(', ')}`);
  process.exit();
}

async function runForeground(file, argv, env) {
  const child = spawn(file, argv, { cwd: root, env, stdio: 'inherit' });
  // The terminal sends its signals to the child as well, which decides.
  const forward = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, forward);
  const code = await new Promise((resolve) => child.once('error', () => resolve(1)).once('close', resolve));
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, forward);
  return code ?? 1;
}

/** Builds in a process of its own: this one would hold the compiler's 100 MB for as long as the platform runs. */
async function buildInChild() {
  const childEnv = { ...process.env, GANTRY_STARTED_AT: String(startedAt) };
  const code = await runForeground(process.execPath, [fileURLToPath(import.meta.url), 'build'], childEnv);
  if (code) process.exit(code);
}

function importPlatform(entry) {
  process.env.GANTRY_STARTED_AT = String(startedAt);
  return import(pathToFileURL(path.join(root, 'packages/platform/dist', entry)).href);
}

async function runDevelopment(env) {
  const { startDevelopment } = await import('./dev.mjs');
  const run = async (title, cwd, [file, ...argv], more) => {
    log(title);
    const { ok, output } = await runProcess(path.resolve(cwd, file), argv, { cwd, env: { ...env, ...more } });
    if (!ok) throw new Error(output.trim());
  };
  const { started } = await importPlatform('main.js');
  startDevelopment({ root, platform: await started, run, say: log });
}

assertNodeVersion();
const env = buildEnvironment();
const commands = {
  /** For images. */
  build: () => {},
  start: () => importPlatform('main.js'),
  dev: () => runDevelopment(env),
  backup: () => importPlatform('backup/backup-main.js'),
  restore: () => importPlatform('backup/backup-main.js'),
  test: () => runTests(env),
  bench: async () =>
    process.exit(await runForeground(process.execPath, [path.join(root, 'bench/run.mjs'), ...args], process.env)),
};
if (!(command in commands)) fail(`usage: bootstrap.mjs ${Object.keys(commands).join(' | ')}`);
await (command === 'build' ? withBuildLock(() => installAndBuild(env)) : buildInChild());
await commands[command]();
