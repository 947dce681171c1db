/** Access JWTs, verified offline: one pinned algorithm, issuer and audience, and keys by their id. */
import type { KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';

export const JWT_ALGORITHM = 'ES256';

export interface JwtClaims {
  userId: string;
  /** The session that it was issued for, and ends with. */
  sessionId?: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

/** Undefined for an unknown key. @throws if the keys cannot be fetched and none are cached */
export type FindKey = (kid: string) => Promise<KeyObject | undefined>;

/** Null for anything but a JWT that is valid now. */
export type VerifyJwt = (token: string) => Promise<JwtClaims | null>;

/** Tolerated clock skew between two machines. */
const CLOCK_TOLERANCE_SECONDS = 5;
const KID = /^[\x21-\x7e]{1,256}$/;

export function createJwtVerifier(options: { findKey: FindKey; issuer: string; audience: string }): VerifyJwt {
  const { findKey, issuer, audience } = options;
  return async (token) => {
    const claims = await verifyToken(token, { findKey, issuer, audience, algorithm: JWT_ALGORITHM });
    if (!claims) return null;
    return {
      userId: claims.sub,
      expiresAt: claims.exp * 1000,
      ...(typeof claims.sid === 'string' && { sessionId: claims.sid }),
    };
  };
}

/** Null for anything but a currently valid JWT with a subject and an expiry. */
export async function verifyToken(
  token: string,
  options: { findKey: FindKey; issuer: string; audience: string; algorithm: jwt.Algorithm },
): Promise<(jwt.JwtPayload & { sub: string; exp: number }) | null> {
  const { findKey, issuer, audience, algorithm } = options;
  const header = parseJwtPart(token, 0);
  // Refused before any key lookup: `none`, an HMAC keyed with a public key, and any other algorithm.
  if (header?.alg !== algorithm || typeof header.kid !== 'string' || !KID.test(header.kid)) return null;
  const key = await findKey(header.kid);
  if (!key) return null;
  try {
    const claims = jwt.verify(token, key, {
      algorithms: [algorithm],
      issuer,
      audience,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    if (typeof claims === 'string') return null;
    const { sub, exp } = claims;
    return sub && exp ? { ...claims, sub, exp } : null;
  } catch (err) {
    if (err instanceof jwt.JsonWebTokenError) return null;
    throw err;
  }
}

/** Unverified: only for routing the lookup. Null for anything but a JSON object. */
export function parseJwtPart(token: string, part: 0 | 1): Record<string, unknown> | null {
  try {
    const value = JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString());
    return value !== null && typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
