export * from './delete-expired-events';
export { deleteExpiredRuns } from './delete-expired-runs';
export * from './retention';
