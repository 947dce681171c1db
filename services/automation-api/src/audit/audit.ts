/** What this service tells the audit log, which worker-api keeps: who changed what, and from where. */
import { auditRecorded, type Execute, enqueue } from '@gantry/events';
import { callerOf } from '@gantry/http';
import type { Request } from 'express';
import type { z } from 'zod';

export interface Change {
  action:
    | 'automation.deployed'
    | 'automation.updated'
    | 'automation.rolled_back'
    | 'automation.changed'
    | 'automation.archived'
    | 'artifact.created'
    | 'secret.set'
    | 'secret.deleted'
    | 'run.cancelled';
  resource: { type: 'automation' | 'artifact' | 'secret' | 'run'; id: string };
  /** Never the value of a secret or of an input. */
  details?: Record<string, unknown>;
}

/** Inside the transaction of the change, on behalf of one request. Kick the relay after the commit. */
export type Audit = (execute: Execute, change: Change) => Promise<void>;

export function auditOf(req: Request): Audit {
  const { workspaceId, kind, userId, email, name, tokenId } = callerOf(req);
  return auditAs(req, workspaceId, { kind, id: userId, label: (email ?? name)?.slice(0, 320) ?? null, tokenId });
}

/** Of whoever holds the link to a public page: a workspace does not learn which account a stranger has. */
export const auditOfLink = (req: Request, workspaceId: string): Audit =>
  auditAs(req, workspaceId, { kind: 'link', id: null, label: null, tokenId: null });

function auditAs(req: Request, workspaceId: string, actor: z.input<typeof auditRecorded.data>['actor']): Audit {
  const origin = {
    actor,
    address: req.ip ?? null,
    userAgent: req.get('user-agent')?.slice(0, 255) ?? null,
    requestId: String(req.id),
  };
  return (execute, { action, resource, details = {} }) =>
    enqueue(execute, auditRecorded, workspaceId, {
      source: 'automation-api',
      ...origin,
      action,
      resource,
      details,
      at: Date.now(),
    });
}
