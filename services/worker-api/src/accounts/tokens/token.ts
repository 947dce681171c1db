/** Rules for tokens, and their API representation. */

import { type AppError, forbidden } from '@gantry/errors';
import type { Restriction, Role } from '@gantry/events';
import { toApiFields } from '@gantry/http';
import { hasRoleAtLeast } from '@gantry/limits';
import type { Token } from '../../generated/prisma/client';
import type { ListedToken } from './token-repository';
import { narrowRestriction, parseKnownRules, restrictionToApi } from './token-restriction';

export interface TokenLimits {
  /** Null: no limit beyond the user's own role. */
  role: Role | null;
  /** Null: never ends. */
  expiresAt: Date | null;
  /** Null: only the role limits it. */
  restriction: Restriction | null;
}

/**
 * Applies the limits of the creating token: a token may neither do more nor live longer than its creator, and inherits
 * omitted limits.
 * @throws AppError 403
 */
export function narrowTokenLimits(requested: TokenLimits, creator: TokenLimits): TokenLimits {
  if (creator.role && requested.role && !hasRoleAtLeast(creator.role, requested.role))
    throw createRoleTooHighError(creator.role);
  if (creator.expiresAt && requested.expiresAt && requested.expiresAt > creator.expiresAt) {
    throw forbidden(
      'outlives_maker',
      `expires_at: a token can't create a token that outlives it; the limit is ${creator.expiresAt.toISOString()}`,
    );
  }
  return {
    role: requested.role ?? creator.role,
    expiresAt: requested.expiresAt ?? creator.expiresAt,
    restriction: narrowRestriction(requested.restriction, creator.restriction),
  };
}

export const createRoleTooHighError = (role: Role): AppError =>
  forbidden(
    'role_too_high',
    `role: a token can't have more rights than its creator; the highest allowed role is ${role}`,
  );

export const tokenToApi = (token: ListedToken) => ({
  ...toTokenSummary(token),
  ...toApiFields(token, 'lastUsedAt', 'createdByTokenId', 'madeTokens', 'spentUsd'),
  created_by_token_revoked: token.makerRevoked,
});

/** The only time that the whole token is shown. */
export const newTokenToApi = (created: Token, token: string) => ({ ...toTokenSummary(created), token });

const toTokenSummary = (token: Token) => ({
  ...toApiFields(token, 'id', 'name', 'prefix', 'role', 'createdAt', 'expiresAt'),
  restrict: restrictionToApi(parseKnownRules(token)),
});
