import { remoteAuthEnv } from '@gantry/auth';
import { commonEnv } from '@gantry/http';
import { keyRing } from '@gantry/vault';
import { z } from 'zod';

export const envSchema = z.object({
  ...commonEnv,
  ...remoteAuthEnv,
  /** `v1:<base64>,v2:<base64>`, 32 bytes each; the last is current. Wraps the keys that seal secrets. */
  ENCRYPTION_KEYS: keyRing,
  /** `file:<directory>` or `s3://bucket?region=...&endpoint=...&publicEndpoint=...&pathStyle=true`. */
  OBJECT_STORE: z.string().regex(/^(file:.|s3:\/\/.)/, 'expected file:<directory> or s3://<bucket>?region=...'),
  /** Signs the file driver's URLs; the same on every replica. */
  OBJECT_STORE_SIGNING_KEY: z.string().min(32),
  /** Where executors reach the file driver: this service, inside. */
  OBJECT_STORE_INTERNAL_URL: z.url().transform((url) => url.replace(/\/+$/, '')),
  /** Absent: what the SDK finds around it, such as a role of the machine. */
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  /** The built dashboard. */
  DASHBOARD_DIR: z.string().min(1),
  /** The built API reference, served at /docs and /openapi. */
  API_DOCS_DIR: z.string().min(1).optional(),
});

export type Env = z.infer<typeof envSchema>;
