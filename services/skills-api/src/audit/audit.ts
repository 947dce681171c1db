import { type AuditedChange, type Audit as AuditOf, createCallerAudit } from '@gantry/http';
import type { Request } from 'express';

export type Change = AuditedChange<
  | `skill.${'published' | 'changed' | 'deleted' | 'restored' | 'shared'}`
  | `library.${'created' | 'changed' | 'deleted' | 'skill_added' | 'skill_removed' | 'reordered'}`
  | `api_key.${'created' | 'rotated' | 'revoked'}`
>;
export type Audit = AuditOf<Change>;

export const createAudit = (req: Request): Audit => createCallerAudit('skills-api', req);
