/** Who does something, and from where: what the audit log says of every change. */
import { callerOf } from '@gantry/http';
import type { Request } from 'express';

export interface Actor {
  /** Kind of the credential; `link` for whoever holds a link that we made, `system` for the platform itself. */
  kind: string;
  /** The user; null for a workspace token and for the platform. */
  id: string | null;
  /** E-mail address or name of the token. */
  label: string | null;
  tokenId: string | null;
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
}

/** Of an operation that asks for a credential. */
export function actorOf(req: Request): Actor {
  const { kind, userId, email, name, tokenId } = callerOf(req);
  return { kind, id: userId, label: email ?? name, tokenId, ...originOf(req) };
}

/** Of a public operation: whoever holds the link, the password or the identity provider's word. */
export const actorBy = (req: Request, kind: 'link' | 'password' | 'oidc'): Actor => ({
  kind,
  id: null,
  label: null,
  tokenId: null,
  ...originOf(req),
});

export const SYSTEM: Actor = {
  kind: 'system',
  id: null,
  label: null,
  tokenId: null,
  address: null,
  userAgent: null,
  requestId: null,
};

const originOf = (req: Request) => ({
  address: req.ip ?? null,
  userAgent: req.get('user-agent')?.slice(0, 255) ?? null,
  requestId: String(req.id),
});
