import { type Bus, encode, listen, MEMBERS_SUBJECT, membersRequest, type WorkspaceMember } from '@gantry/events';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

/** Tells other services which members of a workspace have certain addresses. */
export function serveMembers({ bus, pool, log }: { bus: Bus; pool: Pool; log: Logger }): { stop(): void } {
  const subscription = listen(
    bus,
    MEMBERS_SUBJECT,
    membersRequest,
    async ({ workspaceId, emails }, message) => {
      try {
        message.respond(encode({ members: await listMembersByEmail(pool, workspaceId, emails) }));
      } catch (err) {
        log.warn({ err }, 'members could not be listed');
        // Deliberately not a membersReply: the requester treats it as a failure.
        message.respond(encode({ error: 'unavailable' }));
      }
    },
    { queue: 'worker-api', log },
  );
  return { stop: () => subscription.unsubscribe() };
}

async function listMembersByEmail(pool: Pool, workspaceId: string, emails: string[]): Promise<WorkspaceMember[]> {
  const { rows } = await pool.query<{ id: string; email: string; verified: boolean; holder_since: Date }>(
    `SELECT u.id, u.email, u.email_verified_at IS NOT NULL AS verified, u.holder_since
     FROM users u JOIN memberships m ON m.user_id = u.id JOIN workspaces w ON w.id = m.workspace_id
     WHERE m.workspace_id = $1 AND u.email = ANY($2) AND u.disabled_at IS NULL AND w.deleted_at IS NULL`,
    [workspaceId, emails],
  );
  return rows.map(({ id, email, verified, holder_since }) => ({
    userId: id,
    email,
    emailVerified: verified,
    holderSince: holder_since.getTime(),
  }));
}
