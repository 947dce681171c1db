import './request';

export * from './drained';
export * from './env';
export * from './errors';
export * from './health';
export * from './idempotency';
export * from './log';
export * from './next-page';
export * from './openapi-document';
export * from './permissions';
export * from './postgres';
export * from './principal';
export * from './rate-count';
export * from './rate-limit';
export * from './repeat';
export * from './server';
export * from './surface';
export * from './upload';
