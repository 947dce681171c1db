import { type AuditedChange, type Audit as AuditOf, actorBy, auditAs, auditOf as auditOfCaller } from '@gantry/http';
import type { Request } from 'express';

export type Change = AuditedChange<
  | `automation.${'deployed' | 'updated' | 'rolled_back' | 'changed' | 'archived'}`
  | 'artifact.created'
  | `secret.${'set' | 'deleted'}`
  | 'run.cancelled'
>;
export type Audit = AuditOf<Change>;

export const auditOf = (req: Request): Audit => auditOfCaller('automation-api', req);

/** Audits a caller who has the link to a public page, without disclosing the account to the workspace. */
export const auditOfLink = (req: Request, workspaceId: string): Audit =>
  auditAs('automation-api', workspaceId, actorBy(req, 'link'));
