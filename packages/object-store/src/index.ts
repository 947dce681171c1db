export * from './env';
export * from './file-store';
export * from './object-store';
export * from './open-object-store';
export type { S3Store, S3StoreOptions } from './s3-store';
export * from './storage-routes';
export * from './store-problems';
