export * from './age-events';
export { ageRuns } from './age-runs';
export * from './retention';
