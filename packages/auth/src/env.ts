import { z } from 'zod';

/** Settings of every service that checks access JWTs. */
export const authEnv = {
  /** Who signs them; BASE_URL when absent. */
  JWT_ISSUER: z.string().min(1).optional(),
  JWT_AUDIENCE: z.string().min(1).default('gantry'),
};

/** And of those that are not the issuer: where the public keys are, on the internal network. */
export const remoteAuthEnv = { ...authEnv, JWKS_URL: z.url() };
