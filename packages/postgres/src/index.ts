export * from './database-problems';
export * from './delete-old';
export * from './env';
export * from './failures';
export * from './migrations';
export * from './pool';
export { liftTimeLimits } from './response-limit';
export * from './statement';
export * from './transaction';
