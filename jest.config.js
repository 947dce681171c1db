// One jest for the whole tree: one PostgreSQL and one set of built tools serve every suite (packages/testing/global-setup.ts).
const fs = require('node:fs');
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
  maxWorkers: 2,
  globalSetup: '<rootDir>/packages/testing/src/global-setup.ts',
  globalTeardown: '<rootDir>/packages/testing/src/global-teardown.ts',
  roots: projectRoots.filter((root) => fs.existsSync(path.join(root, 'src'))).map((root) => path.join(root, 'src')),
  testMatch: ['**/*.test.ts'],
  testTimeout: 30_000,
  transform: {
    // Nobody reads the source of a dependency by its line: maps would double what each suite reads.
    '/node_modules/.+\\.m?[jt]sx?$': ['@swc/jest', { ...swc, sourceMaps: false }],
    '\\.m?[jt]sx?$': ['@swc/jest', { ...swc, sourceMaps: 'inline' }],
  },
  // Some dependencies are published as ES modules only; swc turns them into what jest can load.
  transformIgnorePatterns: [],
  moduleNameMapper: { '^@gantry/([a-z-]+)$': '<rootDir>/packages/$1/src/index.ts' },
  modulePathIgnorePatterns: ['/dist/'],
};
