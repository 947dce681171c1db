// `npm run test:cluster`: against the cluster of KUBECONFIG. See docs/operations/kubernetes.md.
const path = require('node:path');
const { globalSetup, globalTeardown, ...base } = require('../../jest.config.js');

module.exports = {
  ...base,
  rootDir: path.resolve(__dirname, '../..'),
  roots: [path.join(__dirname, 'src')],
  testMatch: ['**/*.cluster.ts'],
  maxWorkers: 1,
  bail: 1,
  testTimeout: 600_000,
  // Connections of fetch outlive the forwarded port that they went through.
  forceExit: true,
};
