export * from './catch-logs';
export { createDatabase, cutConnections, type Template, type TestDatabase } from './database';
export * from './fake-executor';
export * from './free-port';
export { runDir, temporaryDir } from './run-dir';
export * from './test-nats';
export * from './until';
