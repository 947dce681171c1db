import { remoteAuthEnv } from '@gantry/auth';
import { commonEnv } from '@gantry/service';
import { keyRing } from '@gantry/vault';
import { z } from 'zod';

export const envSchema = z.object({
  ...commonEnv,
  ...remoteAuthEnv,
  /** `v1:<base64>,v2:<base64>`, 32 bytes each; the last is current. API keys are looked up by their HMAC under these. */
  TOKEN_PEPPERS: keyRing,
});

export type Env = z.infer<typeof envSchema>;
