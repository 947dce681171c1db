/** The object store's part of a service's environment. */
import { caCertificates } from '@gantry/env';
import { z } from 'zod';
import type { ObjectStoreSettings } from './open-object-store';

export const objectStoreEnv = {
  /** `file:<directory>` or `s3://bucket?region=...&endpoint=...&publicEndpoint=...&pathStyle=true`. */
  OBJECT_STORE: z.string().regex(/^(file:.|s3:\/\/.)/, 'expected file:<directory> or s3://<bucket>?region=...'),
  /** Signs the file driver's URLs; the same on every replica. */
  OBJECT_STORE_SIGNING_KEY: z.string().min(32),
  /** Address at which executors reach the file driver: this service, on the internal network. */
  OBJECT_STORE_INTERNAL_URL: z.url().transform((url) => url.replace(/(?<!\/)\/+$/, '')),
  /** Absent: the SDK's default credentials, such as the machine's role. */
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  /** CAs of the endpoints' certificates. */
  S3_CA: caCertificates,
};

const schema = z.object(objectStoreEnv);

export function toObjectStoreSettings(env: z.infer<typeof schema>): Omit<ObjectStoreSettings, 'publicUrl'> {
  return {
    location: env.OBJECT_STORE,
    signingKey: env.OBJECT_STORE_SIGNING_KEY,
    internalUrl: env.OBJECT_STORE_INTERNAL_URL,
    s3Ca: env.S3_CA,
    ...(env.S3_ACCESS_KEY_ID &&
      env.S3_SECRET_ACCESS_KEY && {
        s3Credentials: { accessKeyId: env.S3_ACCESS_KEY_ID, secretAccessKey: env.S3_SECRET_ACCESS_KEY },
      }),
  };
}
