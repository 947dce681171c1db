// One jest for the whole tree: one PostgreSQL and one set of built tools serve every suite
// (packages/testing/src/global-setup.ts).
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const projectRoots = ['services', 'packages'].flatMap((group) =>
  fs.readdirSync(path.join(__dirname, group)).map((name) => path.join(__dirname, group, name)),
);

const swc = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
  module: { type: 'commonjs' },
};

/** @type {import('jest').Config} */
module.exports = {
  // Suites also wait, for processes, leases and acknowledgements: with two for each processor, a tenth of it was idle.
  // With three, suites of whole platforms reached time limits of the product on a slow machine.
  maxWorkers: Math.min(8, 2 * os.availableParallelism() + 1),
  reporters: ['default', '<rootDir>/packages/testing/jest/summary.cjs'],
  testSequencer: '<rootDir>/packages/testing/jest/sequencer.cjs',
  globalSetup: '<rootDir>/packages/testing/src/global-setup.ts',
  globalTeardown: '<rootDir>/packages/testing/src/global-teardown.ts',
  roots: projectRoots.filter((root) => fs.existsSync(path.join(root, 'src'))).map((root) => path.join(root, 'src')),
  testMatch: ['**/*.test.ts'],
  // Longer than `waitUntil` waits, which says for what.
  testTimeout: 300_000,
  runtime: '<rootDir>/packages/testing/jest/runtime.cjs',
  testEnvironment: '<rootDir>/packages/testing/jest/environment.cjs',
  transform: { '\\.tsx?$': ['@swc/jest', { ...swc, sourceMaps: 'inline' }] },
  moduleNameMapper: { '^@gantry/([a-z-]+)$': '<rootDir>/packages/$1/src/index.ts' },
  modulePathIgnorePatterns: ['/dist/'],
};
