export * from './announcer';
export * from './api-caller';
export * from './api-schemas';
export * from './browser';
export * from './burst';
export * from './catch-error';
export * from './catch-logs';
export * from './certificates';
export * from './counting-mcp-server';
export {
  createDatabase,
  cutConnections,
  patientPool,
  setupPool,
  type Template,
  type TestDatabase,
} from './database';
export * from './documented-variables';
export * from './fake-executor';
export * from './fake-executors';
export * from './fake-inspector';
export * from './free-port';
export * from './freezable-address';
export * from './given';
export * from './longest-turn';
export * from './nats-cluster';
export * from './once-for-a-key';
export * from './open-stream';
export * from './own-servers';
export * from './pgbouncer';
export * from './plain-hasher';
export { getRunDir, temporaryDir } from './run-dir';
export * from './scripted-model/scripted-model';
export * from './serve-app';
export * from './shared-by-worker';
export * from './small-disk';
export * from './stack';
export * from './test-nats';
export { assertTestTool, findTestUv, lacksTool } from './test-tools';
export * from './test-user';
export * from './until';
export * from './wheel';
export * from './worker-api';
export * from './zip';
