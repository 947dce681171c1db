/**
 * Builds and verifies links that let a person without an account decide one approval.
 *
 * The token is the approval's id and an HMAC under the platform's pepper over the id, the number of the link and the
 * expiry. None of it is stored: a new number invalidates earlier links, and after the expiry no link is valid.
 * Any configured pepper verifies, so rotating peppers does not invalidate links.
 */
import type { TokenHasher } from '@gantry/auth';
import type { Approval } from '../generated/prisma/client';

const REVIEW_TOKEN_PATTERN = /^rvw_([A-Za-z0-9_-]{21})\.([A-Za-z0-9_-]{43})$/;

type LinkedApproval = Pick<Approval, 'id' | 'expiresAt' | 'linkNumber'>;

const buildSignedText = ({ id, expiresAt, linkNumber }: LinkedApproval): string =>
  `review ${id} ${linkNumber} ${expiresAt.getTime()}`;

/** Null if the approval has no public link. */
export function buildReviewUrl(hasher: TokenHasher, dashboardUrl: string, approval: LinkedApproval): string | null {
  if (approval.linkNumber === null) return null;
  const signature = hasher.hash(buildSignedText(approval)).hash.toString('base64url');
  return `${dashboardUrl}/review/rvw_${approval.id.slice('apr_'.length)}.${signature}`;
}

/** Returns the id in a token that is not yet verified. Null for a malformed token. */
export function parseApprovalId(token: string): string | null {
  const [, id] = REVIEW_TOKEN_PATTERN.exec(token) ?? [];
  return id ? `apr_${id}` : null;
}

/** Verifies a token in constant time. */
export function isValidLink(hasher: TokenHasher, approval: LinkedApproval, token: string): boolean {
  const [, , signature] = REVIEW_TOKEN_PATTERN.exec(token) ?? [];
  if (!signature || approval.linkNumber === null) return false;
  return hasher.matches(buildSignedText(approval), Buffer.from(signature, 'base64url'));
}
