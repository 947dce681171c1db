import { remoteAuthEnv } from '@gantry/auth';
import { objectStoreEnv } from '@gantry/object-store';
import { retentionEnv } from '@gantry/run-engine';
import { commonEnv } from '@gantry/service';
import { keyRing } from '@gantry/vault';
import { z } from 'zod';

export const envSchema = z.object({
  ...commonEnv,
  ...remoteAuthEnv,
  ...objectStoreEnv,
  ...retentionEnv,
  /** `v1:<base64>,v2:<base64>`, 32 bytes each; the last is current. Wraps the keys that seal secrets. */
  ENCRYPTION_KEYS: keyRing,
  /** The built dashboard. */
  DASHBOARD_DIR: z.string().min(1),
  /** The built API reference, served at /docs and /openapi. */
  API_DOCS_DIR: z.string().min(1).optional(),
});
