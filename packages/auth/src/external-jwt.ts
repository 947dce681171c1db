/** Access JWTs of an identity provider that the operator trusts in addition to the platform's own issuer. */
import { createRemoteKeyFinder } from './jwks';
import { parseJwtPart, verifyToken } from './jwt';

export const externalAlgorithms = ['RS256', 'PS256', 'ES256'] as const;

export interface ExternalIssuer {
  issuer: string;
  audience: string;
  jwksUrl: string;
  /** Pinned: the JWT's own header is never trusted. */
  algorithm: (typeof externalAlgorithms)[number];
}

export interface ExternalClaims {
  issuer: string;
  subject: string;
  /** Null unless the issuer marks it as verified. */
  email: string | null;
  /** Epoch milliseconds. */
  expiresAt: number;
}

/** Null for anything but a JWT of that issuer that is valid now. */
export type VerifyExternalJwt = (token: string) => Promise<ExternalClaims | null>;

export function createExternalJwtVerifier(trustedIssuer: ExternalIssuer): VerifyExternalJwt {
  const { issuer, audience, jwksUrl, algorithm } = trustedIssuer;
  const findKey = createRemoteKeyFinder({ url: jwksUrl });
  return async (token) => {
    // Checked first, so that the provider's keys are not fetched for JWTs of another issuer.
    if (parseJwtPart(token, 1)?.iss !== issuer) return null;
    const claims = await verifyToken(token, { findKey, issuer, audience, algorithm });
    if (!claims) return null;
    const isVerified = claims.email_verified === true && typeof claims.email === 'string';
    return { issuer, subject: claims.sub, email: isVerified ? claims.email : null, expiresAt: claims.exp * 1000 };
  };
}
