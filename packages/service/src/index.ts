export { commonEnv } from './env';
export * from './run-service';
export type { RunningService } from './serve';
export * from './sweeps';
