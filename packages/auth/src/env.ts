import { z } from 'zod';
import { type ExternalIssuer, externalAlgorithms } from './external-jwt';

/** Settings of every service that verifies access JWTs. */
export const authEnv = {
  /** Issuer; default BASE_URL. */
  JWT_ISSUER: z.string().min(1).optional(),
  JWT_AUDIENCE: z.string().min(1).default('gantry'),
  /** An additional identity provider whose access JWTs are accepted, as in its `iss` claim. */
  EXTERNAL_JWT_ISSUER: z.url().optional(),
  /** Required value in its `aud` claim; default JWT_AUDIENCE. */
  EXTERNAL_JWT_AUDIENCE: z.string().min(1).optional(),
  /** Default: `<issuer>/.well-known/jwks.json`. */
  EXTERNAL_JWT_JWKS_URL: z.url().optional(),
  EXTERNAL_JWT_ALGORITHM: z.enum(externalAlgorithms).default('RS256'),
};

/** Built from the settings above; undefined if none is configured. */
export function getExternalIssuer(env: z.infer<z.ZodObject<typeof authEnv>>): ExternalIssuer | undefined {
  const issuer = env.EXTERNAL_JWT_ISSUER;
  if (!issuer) return undefined;
  return {
    issuer,
    audience: env.EXTERNAL_JWT_AUDIENCE ?? env.JWT_AUDIENCE,
    jwksUrl: env.EXTERNAL_JWT_JWKS_URL ?? `${issuer.replace(/(?<!\/)\/+$/, '')}/.well-known/jwks.json`,
    algorithm: env.EXTERNAL_JWT_ALGORITHM,
  };
}

/** For services other than the issuer: additionally the address of the public keys, on the internal network. */
export const remoteAuthEnv = { ...authEnv, JWKS_URL: z.url() };
