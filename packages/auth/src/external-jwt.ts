/** Access JWTs of an identity provider that the operator trusts beside our own issuer. */
import { remoteKeys } from './jwks';
import { jsonPart, verifiedClaims } from './jwt';

export const externalAlgorithms = ['RS256', 'PS256', 'ES256'] as const;

export interface ExternalIssuer {
  issuer: string;
  audience: string;
  jwksUrl: string;
  /** Pinned: what a JWT's own header says is never believed. */
  algorithm: (typeof externalAlgorithms)[number];
}

export interface ExternalClaims {
  issuer: string;
  subject: string;
  /** Null unless the issuer says that it is verified. */
  email: string | null;
  /** Epoch milliseconds. */
  expiresAt: number;
}

/** Null for anything but a JWT of that issuer that is valid now. */
export type VerifyExternalJwt = (token: string) => Promise<ExternalClaims | null>;

export function createExternalJwtVerifier(trusted: ExternalIssuer): VerifyExternalJwt {
  const { issuer, audience, jwksUrl, algorithm } = trusted;
  const findKey = remoteKeys({ url: jwksUrl });
  return async (token) => {
    // Asked first, so that the provider's keys are not fetched for JWTs that are none of its own.
    if (jsonPart(token, 1)?.iss !== issuer) return null;
    const claims = await verifiedClaims(token, { findKey, issuer, audience, algorithm });
    if (!claims) return null;
    const isVerified = claims.email_verified === true && typeof claims.email === 'string';
    return { issuer, subject: claims.sub, email: isVerified ? claims.email : null, expiresAt: claims.exp * 1000 };
  };
}
