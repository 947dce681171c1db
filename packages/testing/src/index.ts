export * from './api-client';
export * from './api-schemas';
export * from './browser';
export * from './burst-sender';
export * from './capture-logs';
export * from './catch-error';
export * from './certificates';
export * from './counting-mcp-server';
export {
  createDatabase,
  setupPool,
  slowPoolEnv,
  slowPoolOptions,
  type Template,
  type TestDatabase,
  terminateConnections,
} from './database';
export * from './documented-variables';
export * from './event-publisher';
export * from './fake-executor';
export * from './fake-executors';
export * from './fake-inspector';
export * from './free-port';
export * from './freezable-proxy';
export * from './longest-turn';
export * from './nats-cluster';
export * from './open-stream';
export * from './pgbouncer';
export * from './plain-hasher';
export { createTemporaryDir, getRunDir } from './run-dir';
export * from './scripted-model/scripted-model';
export * from './serve-app';
export * from './setup-resource';
export * from './shared-by-worker';
export * from './small-disk';
export * from './stack';
export * from './test-idempotency';
export * from './test-nats';
export * from './test-servers';
export { assertTestTool, findTestUv, isToolUnavailable } from './test-tools';
export * from './test-user';
export * from './wait-until';
export * from './wheel';
export * from './worker-api';
export * from './zip';
