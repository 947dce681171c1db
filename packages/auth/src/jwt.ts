/** Access JWTs, verified offline: one pinned algorithm, issuer and audience, and keys by their id. */
import type { KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';

export const JWT_ALGORITHM = 'ES256';

export interface JwtClaims {
  userId: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

/** Undefined for a key that is not there. @throws if the keys can't be had and nothing is cached */
export type FindKey = (kid: string) => Promise<KeyObject | undefined>;

/** Null for anything but a JWT that is valid now. */
export type VerifyJwt = (token: string) => Promise<JwtClaims | null>;

/** Clocks of two machines may differ by this much. */
const CLOCK_TOLERANCE_SECONDS = 5;
const KID = /^[\w-]{1,64}$/;

export function createJwtVerifier(options: { findKey: FindKey; issuer: string; audience: string }): VerifyJwt {
  const { findKey, issuer, audience } = options;
  return async (token) => {
    const header = headerOf(token);
    // Refused before any key is looked for: `none`, an HMAC keyed with our public key, and whatever comes next.
    if (header?.alg !== JWT_ALGORITHM || typeof header.kid !== 'string' || !KID.test(header.kid)) return null;
    const key = await findKey(header.kid);
    if (!key) return null;
    try {
      const claims = jwt.verify(token, key, {
        algorithms: [JWT_ALGORITHM],
        issuer,
        audience,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      });
      if (typeof claims === 'string' || !claims.sub || !claims.exp) return null;
      return { userId: claims.sub, expiresAt: claims.exp * 1000 };
    } catch (err) {
      if (err instanceof jwt.JsonWebTokenError) return null;
      throw err;
    }
  };
}

function headerOf(token: string): { alg?: unknown; kid?: unknown } | null {
  try {
    return JSON.parse(Buffer.from(token.split('.', 1)[0] ?? '', 'base64url').toString());
  } catch {
    return null;
  }
}
