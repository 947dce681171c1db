import { authEnv } from '@gantry/auth';
import { commonEnv } from '@gantry/http';
import { keyRing } from '@gantry/vault';
import { z } from 'zod';

export const envSchema = z.object({
  ...commonEnv,
  ...authEnv,
  /** `v1:<base64>,v2:<base64>`, 32 bytes each; the last is current. Wraps the keys that seal secrets. */
  ENCRYPTION_KEYS: keyRing,
  /** The same shape. Tokens and cookies are looked up by their HMAC under these. */
  TOKEN_PEPPERS: keyRing,
  /** Who knows it may create the first owner. Without it nobody can. */
  SETUP_TOKEN: z
    .union([z.literal(''), z.string().min(16)])
    .transform((token) => token || undefined)
    .optional(),
});

export type Env = z.infer<typeof envSchema>;
