/**
 * The process as the environment of a suite, in Node's own realm; what a suite changes in it is put back, and what it
 * leaves open fails it by name.
 */
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { openResources, describeLeaks } = require('./open-resources.cjs');

/** A socket that was closed may take a moment to be gone, longer on a busy machine. */
const CLOSING_MS_MAX = 10_000;
const CLOSING_POLL_MS = 20;

/** Globals in which jest-circus holds the tests and listeners of a suite: it expects a fresh global object for each. */
const ofCircus = new Set(['JEST_STATE_SYMBOL', 'EVENT_HANDLERS']);

const delay = globalThis.setTimeout;

class ProcessEnvironment {
  constructor({ projectConfig }, { testPath, docblockPragmas }) {
    this.testPath = testPath;
    this.isSequential = 'sequential' in docblockPragmas;
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = null;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.before = { env: { ...process.env }, console: globalThis.console, exit: process.exit, cwd: process.cwd() };
    this.openBefore = openResources();
  }

  async setup() {}

  /** Circus waits for this before it sums up the suite. */
  async handleTestEvent(event, state) {
    // Each test of such a suite continues where the previous one ended, even with `--randomize`.
    if (event.name === 'setup' && this.isSequential) state.randomize = false;
    if (event.name === 'test_start') this.global.hasTestFailed = false;
    // Before `afterEach`, which may then describe what the test has left.
    if (event.name === 'test_fn_failure') this.global.hasTestFailed = true;
    if (event.name !== 'run_finish') return;
    const deadline = Date.now() + CLOSING_MS_MAX;
    let leaks = describeLeaks(this.openBefore);
    while (leaks.length && Date.now() < deadline) {
      await new Promise((done) => delay(done, CLOSING_POLL_MS));
      leaks = describeLeaks(this.openBefore);
    }
    if (leaks.length) state.unhandledErrors.push(new Error(`this suite leaves open: ${leaks.join(', ')}`));
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    for (const key of Object.getOwnPropertySymbols(globalThis)) {
      if (ofCircus.has(key.description)) delete globalThis[key];
    }
    globalThis.console = this.before.console;
    process.exit = this.before.exit;
    process.chdir(this.before.cwd);
    for (const name of Object.keys(process.env)) if (!(name in this.before.env)) delete process.env[name];
    Object.assign(process.env, this.before.env);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Only Jest's loader of ES modules uses it, which compiles nothing here. */
  getVmContext() {
    return {};
  }
}

module.exports = ProcessEnvironment;
