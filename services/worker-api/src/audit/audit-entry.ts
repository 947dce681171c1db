/** Writes an entry of the audit log, and maps it to its API representation. */

import { addChangeHint, type ChangeNoun, newId } from '@gantry/events';
import { type Actor, type AuditAction, parseResourceType, toApiFields } from '@gantry/http';
import { execute, type Tx } from '@gantry/postgres';

export interface AuditedChange {
  /** Null where it concerns a user who is a member of no workspace. */
  workspaceId: string | null;
  /** `<noun>.<past tense>`. */
  action: AuditAction;
  id: string | null;
  /** Type of the resource, where it is not the noun of the action. */
  type?: string;
  /** Never a secret. */
  details?: Record<string, unknown>;
}

const INSERT_AUDIT_ENTRY = `INSERT INTO audit_log (id, workspace_id, source, actor_kind, actor_id, actor_label, actor_token_id,
    action, resource_type, resource_id, details, address, user_agent, request_id, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12, $13, $14, coalesce($15::timestamptz, now()))
  ON CONFLICT (id) DO NOTHING`;

interface ChangedResource extends Pick<AuditedChange, 'workspaceId' | 'id'> {
  /** Where it is not the noun of the action. */
  resourceType?: string;
}

/**
 * Records a change inside its transaction, so that exactly the committed changes are in the log.
 * @param details never a secret
 */
export function recordChange(
  tx: Tx,
  actor: Actor,
  action: AuditAction,
  { workspaceId, id, resourceType }: ChangedResource,
  details: Record<string, unknown> = {},
): Promise<unknown> {
  const change = { workspaceId, action, id, details, ...(resourceType !== undefined && { type: resourceType }) };
  return insertAuditEntry(tx, { id: newId('aud_'), source: 'worker-api', actor, change, at: null });
}

/** Types of resources by the noun that pages refetch. */
const TYPES_BY_NOUN: Partial<Record<ChangeNoun, string[]>> = {
  workers: ['worker', 'mcp_tool', 'example', 'evaluation'],
  runs: ['run'],
  approvals: ['approval'],
  contexts: ['context'],
  secrets: ['secret', 'secret_keys'],
  connections: ['connection', 'integration_app'],
  models: ['model_provider'],
  alerts: ['alert'],
  skills: ['skill', 'library'],
  automations: ['automation'],
  members: ['member', 'invitation'],
  tokens: ['token', 'api_key', 'oauth_grant'],
  workspaces: ['workspace'],
};
const NOUN_BY_TYPE = new Map(
  Object.entries(TYPES_BY_NOUN).flatMap(([noun, types]) => types.map((type) => [type, noun as ChangeNoun] as const)),
);
/** Nouns whose ids are random; other ids are names, which not every member may know. */
const NOUNS_WITH_ID: ReadonlySet<ChangeNoun | undefined> = new Set(['runs', 'approvals', 'automations']);

export function insertAuditEntry(
  tx: Tx,
  entry: { id: string; source: string; actor: Actor; change: AuditedChange; at: Date | null },
): Promise<unknown> {
  const { id, source, actor, change, at } = entry;
  const { workspaceId, action, id: resourceId, type = parseResourceType(action), details } = change;
  if (workspaceId) {
    const noun = NOUN_BY_TYPE.get(type);
    if (noun) addChangeHint(tx, workspaceId, noun, NOUNS_WITH_ID.has(noun) ? resourceId : null);
    addChangeHint(tx, workspaceId, 'audit');
  }
  return execute(tx, INSERT_AUDIT_ENTRY, [
    id,
    workspaceId,
    source,
    actor.kind,
    actor.id,
    actor.label,
    actor.tokenId,
    action,
    type,
    resourceId,
    JSON.stringify(details ?? {}),
    actor.address,
    actor.userAgent,
    actor.requestId,
    at,
  ]);
}

/** In the order of an export. */
export const AUDIT_COLUMNS = [
  ...['id', 'created_at', 'actor_kind', 'actor_id', 'actor_label', 'actor_token_id', 'action'],
  ...['resource_type', 'resource_id', 'details', 'address', 'user_agent', 'request_id', 'source'],
] as const;

type JsonOrTime = 'details' | 'created_at';
export type AuditRow = Record<Exclude<(typeof AUDIT_COLUMNS)[number], JsonOrTime>, string | null> & {
  id: string;
  details: Record<string, unknown>;
  created_at: Date;
};

export function auditEntryToApi(row: AuditRow) {
  return {
    ...toApiFields(row, 'id', 'created_at', 'action', 'details', 'address', 'user_agent', 'request_id'),
    actor: { kind: row.actor_kind, id: row.actor_id, label: row.actor_label, token_id: row.actor_token_id },
    resource: { type: row.resource_type, id: row.resource_id },
    source: row.source,
  };
}
