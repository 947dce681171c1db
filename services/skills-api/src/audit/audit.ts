/** What this service tells the audit log, which worker-api keeps: who changed what, and from where. */
import { auditRecorded, enqueue } from '@gantry/events';
import { callerOf } from '@gantry/http';
import type { Request } from 'express';
import { type Db, executeIn } from '../database';

export interface Change {
  action:
    | `skill.${'published' | 'changed' | 'deleted' | 'restored' | 'shared'}`
    | `library.${'created' | 'changed' | 'deleted' | 'skill_added' | 'skill_removed' | 'reordered'}`
    | `api_key.${'created' | 'rotated' | 'revoked'}`;
  resource: { type: 'skill' | 'library' | 'api_key'; id: string };
  /** Never a key, nor the text of a skill. */
  details?: Record<string, unknown>;
}

/** Inside the transaction of the change, on behalf of one request. */
export type Audit = (tx: Db, change: Change) => Promise<void>;

export function auditOf(req: Request): Audit {
  const { workspaceId, kind, userId, email, name, tokenId } = callerOf(req);
  const origin = {
    actor: { kind, id: userId, label: (email ?? name)?.slice(0, 320) ?? null, tokenId },
    address: req.ip ?? null,
    userAgent: req.get('user-agent')?.slice(0, 255) ?? null,
    requestId: String(req.id),
  };
  return (tx, { action, resource, details = {} }) =>
    enqueue(executeIn(tx), auditRecorded, workspaceId, {
      source: 'skills-api',
      ...origin,
      action,
      resource,
      details,
      at: Date.now(),
    });
}
