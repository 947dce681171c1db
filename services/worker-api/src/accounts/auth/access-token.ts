/** The one-hour JWT that a session issues to browsers and that other services verify offline. */
import { randomUUID } from 'node:crypto';
import { JWT_ALGORITHM } from '@gantry/auth';
import type { SurfaceSchemas } from '@gantry/openapi';
import jwt from 'jsonwebtoken';
import type { SigningKeys } from '../signing-keys/signing-keys';

export type AccessToken = SurfaceSchemas<'worker'>['AccessFields'];

/**
 * It ends with the session: see identity/introspection.ts.
 * @param lifetimeSeconds an hour by default
 */
export type AccessTokenIssuer = (
  session: { userId: string; sessionId: string },
  lifetimeSeconds?: number,
) => Promise<AccessToken>;

const LIFETIME_SECONDS = 3_600;

export function createAccessTokenIssuer(options: {
  signingKeys: SigningKeys;
  issuer: string;
  audience: string;
}): AccessTokenIssuer {
  const { signingKeys, issuer, audience } = options;
  return async ({ userId, sessionId }, lifetimeSeconds = LIFETIME_SECONDS) => {
    const { kid, privateKey } = await signingKeys.signer();
    const access_token = jwt.sign({ sid: sessionId }, privateKey, {
      algorithm: JWT_ALGORITHM,
      keyid: kid,
      issuer,
      audience,
      subject: userId,
      jwtid: randomUUID(),
      expiresIn: lifetimeSeconds,
    });
    return { access_token, token_type: 'Bearer', expires_in: lifetimeSeconds };
  };
}
