/** Builds the actor of a change and the origin of its request for the audit log. */
import type { Request } from 'express';
import { getCaller } from './caller';

export interface Actor {
  /** Kind of the credential; `link` for the holder of a link that we sent, `system` for the platform itself. */
  kind: string;
  /** The user; null for a workspace token and for the platform. */
  id: string | null;
  /** Email address or name of the token. */
  label: string | null;
  tokenId: string | null;
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
}

const NO_USER = { id: null, label: null, tokenId: null };
const LABEL_CHARS_MAX = 320;
const USER_AGENT_CHARS_MAX = 255;

/** Builds the actor of an operation that requires a credential. */
export function toActor(req: Request): Actor {
  const { kind, userId, email, name, tokenId } = getCaller(req);
  const label = (email ?? name)?.slice(0, LABEL_CHARS_MAX) ?? null;
  return { kind, id: userId, label, tokenId, ...getRequestOrigin(req) };
}

/**
 * Builds the actor of a public operation: the holder of a link, a password or an identity provider's assertion, or a
 * program that holds a code or a token.
 */
export const buildLinkActor = (req: Request, kind: 'link' | 'password' | 'oidc' | 'oauth_client'): Actor => ({
  kind,
  ...NO_USER,
  ...getRequestOrigin(req),
});

export const SYSTEM: Actor = { kind: 'system', ...NO_USER, address: null, userAgent: null, requestId: null };

const getRequestOrigin = (req: Request) => ({
  address: req.ip ?? null,
  userAgent: req.get('user-agent')?.slice(0, USER_AGENT_CHARS_MAX) ?? null,
  requestId: String(req.id),
});
