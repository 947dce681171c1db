import { z } from 'zod';
import { type ExternalIssuer, externalAlgorithms } from './external-jwt';

/** Settings of every service that checks access JWTs. */
export const authEnv = {
  /** Who signs them; BASE_URL when absent. */
  JWT_ISSUER: z.string().min(1).optional(),
  JWT_AUDIENCE: z.string().min(1).default('gantry'),
  /** An identity provider whose access JWTs are taken beside our own, as its `iss` claim says it. */
  EXTERNAL_JWT_ISSUER: z.url().optional(),
  /** What its `aud` claim must hold; JWT_AUDIENCE when absent. */
  EXTERNAL_JWT_AUDIENCE: z.string().min(1).optional(),
  /** `<issuer>/.well-known/jwks.json` when absent. */
  EXTERNAL_JWT_JWKS_URL: z.url().optional(),
  EXTERNAL_JWT_ALGORITHM: z.enum(externalAlgorithms).default('RS256'),
};

/** From the settings above; undefined where none is configured. */
export function externalIssuer(env: z.infer<z.ZodObject<typeof authEnv>>): ExternalIssuer | undefined {
  const issuer = env.EXTERNAL_JWT_ISSUER;
  if (!issuer) return undefined;
  return {
    issuer,
    audience: env.EXTERNAL_JWT_AUDIENCE ?? env.JWT_AUDIENCE,
    jwksUrl: env.EXTERNAL_JWT_JWKS_URL ?? `${issuer.replace(/(?<!\/)\/+$/, '')}/.well-known/jwks.json`,
    algorithm: env.EXTERNAL_JWT_ALGORITHM,
  };
}

/** And of those that are not the issuer: where the public keys are, on the internal network. */
export const remoteAuthEnv = { ...authEnv, JWKS_URL: z.url() };
