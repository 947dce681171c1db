import { createFileStore, type FileStore, type FileStoreOptions } from './file-store';
import type { S3Store, S3StoreOptions } from './s3-store';

export interface ObjectStoreSettings extends Omit<FileStoreOptions, 'directory'> {
  /**
   * `file:<directory>` or `s3://bucket?region=...&endpoint=...&publicEndpoint=...&pathStyle=true`; S3 needs no query
   * on AWS.
   */
  location: string;
  s3Ca?: S3StoreOptions['ca'];
  s3Credentials?: S3StoreOptions['credentials'];
}

/** @throws Error describing the problem with `location` */
export function openObjectStore(settings: ObjectStoreSettings): FileStore | S3Store {
  const { location } = settings;
  if (location.startsWith('file:')) {
    const directory = location.slice('file:'.length).replace(/^\/\/(?=\/)/, '');
    return createFileStore({ ...settings, directory });
  }
  if (!location.startsWith('s3://')) throw new Error('OBJECT_STORE: file:<directory> or s3://<bucket>?region=...');
  const { hostname: bucket, searchParams } = new URL(location);
  // Loading the SDK costs a fifth of a second and some 15 MB, so it happens only if S3 is used.
  const { createS3Store } = require('./s3-store') as typeof import('./s3-store');
  return createS3Store({
    bucket,
    region: searchParams.get('region') ?? 'us-east-1',
    endpoint: searchParams.get('endpoint') ?? undefined,
    publicEndpoint: searchParams.get('publicEndpoint') ?? undefined,
    pathStyle: searchParams.get('pathStyle') === 'true',
    credentials: settings.s3Credentials,
    ca: settings.s3Ca,
  });
}
