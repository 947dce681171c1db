/** Ends a person's grant to a client: rows, announcement and audit entry commit together. */
import { enqueue, tokenRevoked } from '@gantry/events';
import type { Actor } from '@gantry/http';
import type { Sql } from '@gantry/postgres';
import { recordChange } from '../../audit/audit-entry';
import { findClientHost } from '../grants/client-id';
import { type DeletedGrant, deleteGrant } from '../grants/grant-repository';

/** `reuse`: a code or refresh token was replayed, so another party may have it. */
export type RevocationReason = 'person' | 'client' | 'reuse';

/** Deletes and announces it. Null if it had ended, or is not that user's. @param grant.userId null: any user's */
export async function revokeGrant(
  tx: Sql,
  grant: { id: string; userId: string | null },
  reason: RevocationReason,
  actor: Actor,
): Promise<DeletedGrant | null> {
  const ended = await deleteGrant(tx, grant.id, grant.userId);
  if (!ended) return null;
  const { id, workspace_id: workspaceId, client_id, client_name } = ended;
  await enqueue(tx, tokenRevoked, workspaceId, { tokenId: id });
  const details = { client: client_name, host: findClientHost(client_id), reason };
  await recordChange(tx, actor, 'oauth_grant.revoked', { workspaceId, id }, details);
  return ended;
}
