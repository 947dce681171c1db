/** The callers that count as a person, by operation. */
import { forbidden } from '@gantry/errors';
import type { Principal } from '@gantry/limits';
import type { Db } from '../../database';
import { findTokenById } from '../tokens/token-repository';

/** Returns the id of the user behind the caller. @throws AppError 403 for a workspace token */
export function getUserId({ userId }: Principal): string {
  if (userId) return userId;
  throw forbidden('needs_user', 'this requires a user account, which a workspace token does not have; sign in instead');
}

/** A person at a browser, not a program with a token. */
export const isSignedIn = ({ kind }: Principal): boolean => kind === 'session' || kind === 'jwt';

/**
 * Returns the user for operations closed to tokens, which could otherwise turn themselves into another credential.
 * @throws AppError 403
 */
export function getSignedInUserId(caller: Principal): string {
  if (isSignedIn(caller)) return getUserId(caller);
  throw forbidden('needs_sign_in', 'a token can’t be used for this; sign in instead');
}

/**
 * Returns the user for operations on the user rather than on a workspace, where no role limits a token: a token with
 * a role of its own is refused.
 * @throws AppError 403
 */
export async function getUnrestrictedUserId(db: Db, caller: Principal): Promise<string> {
  const userId = getUserId(caller);
  if (caller.kind === 'personal_token' && caller.tokenId) {
    const token = await findTokenById(db, caller.tokenId);
    if (token?.role && token.role !== 'owner') {
      throw forbidden('role_too_low', `this token is limited to the ${token.role} role`);
    }
  }
  return userId;
}
