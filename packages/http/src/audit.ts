/** Audit entries of the services other than worker-api, sent to worker-api, which keeps the log. */
import { auditRecorded, enqueue, type Service } from '@gantry/events';
import type { SurfaceSchemas } from '@gantry/openapi';
import type { Tx } from '@gantry/postgres';
import type { Request } from 'express';
import { type Actor, toActor } from './actor';
import { getCaller } from './caller';

/** All audit actions: the dashboard's log describes each. */
export type AuditAction = SurfaceSchemas<'worker'>['AuditAction'];

/** @typeParam Action `<noun>.<past tense>`, where the noun is the resource's type */
export interface AuditedChange<Action extends AuditAction = AuditAction> {
  action: Action;
  /** The resource's id. */
  id: string;
  /** Never a secret, an input or user-written text. */
  details?: Record<string, unknown>;
}

/** Records a change inside its transaction, on behalf of one request. */
export type Audit<Change extends AuditedChange = AuditedChange> = (tx: Tx, change: Change) => Promise<void>;

export const parseResourceType = (action: string): string => action.slice(0, action.indexOf('.'));

/** Creates an audit on behalf of the caller, in the caller's workspace. */
export const createCallerAudit = (service: Service, req: Request): Audit =>
  createAudit(service, getCaller(req).workspaceId, toActor(req));

export function createAudit(service: Service, workspaceId: string, actor: Actor): Audit {
  const { address, userAgent, requestId, ...who } = actor;
  return (tx, { action, id, details = {} }) =>
    enqueue(tx, auditRecorded, workspaceId, {
      source: service,
      actor: who,
      address,
      userAgent,
      requestId,
      action,
      resource: { type: parseResourceType(action), id },
      details,
      at: Date.now(),
    });
}
