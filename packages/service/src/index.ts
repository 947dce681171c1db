export { commonEnv } from './env';
export * from './run-service';
export * from './sweeps';
