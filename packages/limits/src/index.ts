import './request';

export * from './admission';
export * from './idempotency';
export { buildMarkKeySql, type HeldKey, keyLostError, sweepIdempotencyKeys, toHeldKeyParams } from './idempotency-keys';
export * from './principal';
export * from './rate-counter';
export * from './rate-limit';
export * from './restriction';
export * from './slots';
