import { type AuditedChange, type Audit as AuditOf, auditOf as auditOfCaller } from '@gantry/http';
import type { Request } from 'express';

export type Change = AuditedChange<
  | `skill.${'published' | 'changed' | 'deleted' | 'restored' | 'shared'}`
  | `library.${'created' | 'changed' | 'deleted' | 'skill_added' | 'skill_removed' | 'reordered'}`
  | `api_key.${'created' | 'rotated' | 'revoked'}`
>;
export type Audit = AuditOf<Change>;

export const auditOf = (req: Request): Audit => auditOfCaller('skills-api', req);
