import {
  type AuditedChange,
  type Audit as AuditOf,
  buildLinkActor,
  createAudit as createActorAudit,
  createCallerAudit,
} from '@gantry/http';
import type { Request } from 'express';

export type Change = AuditedChange<
  | `automation.${'deployed' | 'updated' | 'rolled_back' | 'changed' | 'archived'}`
  | 'artifact.created'
  | `secret.${'set' | 'deleted'}`
  | 'run.cancelled'
>;
export type Audit = AuditOf<Change>;

export const createAudit = (req: Request): Audit => createCallerAudit('automation-api', req);

/** Audits a caller who has the link to a public page, without disclosing the account to the workspace. */
export const createLinkAudit = (req: Request, workspaceId: string): Audit =>
  createActorAudit('automation-api', workspaceId, buildLinkActor(req, 'link'));
