/** What services other than worker-api tell the audit log, which worker-api keeps. */
import { auditRecorded, enqueue, type Service } from '@gantry/events';
import type { Tx } from '@gantry/postgres';
import type { Request } from 'express';
import { type Actor, actorOf } from './actor';
import { callerOf } from './admission';

/** @typeParam Action `<noun>.<past tense>` */
export interface AuditedChange<Action extends string = string, Resource extends string = string> {
  action: Action;
  resource: { type: Resource; id: string };
  /** Never a secret, an input or a text of people. */
  details?: Record<string, unknown>;
}

/** Inside the transaction of the change, on behalf of one request. */
export type Audit<Change extends AuditedChange = AuditedChange> = (tx: Tx, change: Change) => Promise<void>;

/** On behalf of the caller, in the caller's workspace. */
export const auditOf = (service: Service, req: Request): Audit =>
  auditAs(service, callerOf(req).workspaceId, actorOf(req));

export function auditAs(service: Service, workspaceId: string, actor: Actor): Audit {
  const { address, userAgent, requestId, ...who } = actor;
  return (tx, { action, resource, details = {} }) =>
    enqueue(tx, auditRecorded, workspaceId, {
      ...{ source: service, actor: who, address, userAgent, requestId },
      ...{ action, resource, details, at: Date.now() },
    });
}
