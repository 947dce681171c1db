import { notFound } from '@gantry/errors';
import { enqueue, memberChanged } from '@gantry/events';
import { noContent, type Operations, respondWithPage, toApiFields } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../../audit/audit-entry';
import type { Session } from '../../generated/prisma/client';
import type { AccountDeps } from '../account-deps';
import { getSignedInUserId } from '../identity/caller-user';
import { revokeUserCredentials } from '../tokens/token-repository';
import { listSessions, revokeSessionById } from './session-repository';

const sessionToApi = (session: Session, current: string | null) => ({
  ...toApiFields(session, 'id', 'address', 'userAgent', 'createdAt', 'expiresAt'),
  current: session.id === current,
});

export function createSessionOperations(deps: AccountDeps): Operations<'worker'> {
  const { prisma, sessions, sessionCookie, identities } = deps;
  return {
    listSessions: async (call) => {
      const found = await listSessions(prisma, getSignedInUserId(call.caller));
      return respondWithPage(call, found, (session) => sessionToApi(session, call.caller.tokenId));
    },
    endSession: async ({ caller, actor, path }) => {
      const userId = getSignedInUserId(caller);
      const sessionId = path.session_id;
      await transaction(prisma, async (tx) => {
        if (!(await revokeSessionById(tx, userId, sessionId))) throw notFound('session', sessionId, 'in this account');
        await recordChange(tx, actor, 'session.ended', { workspaceId: caller.workspaceId, id: sessionId });
      });
      identities.evictToken(sessionId);
      return noContent();
    },
    signOutEverywhere: async ({ caller, actor, body, res }) => {
      const userId = getSignedInUserId(caller);
      const alsoTokens = body?.tokens === true;
      const ended = await transaction(prisma, async (tx) => {
        const closed = await sessions.closeAllOf(tx, userId);
        const revoked = alsoTokens ? await revokeUserCredentials(tx, userId) : [];
        // Other services remember the users of their API keys.
        if (alsoTokens) await enqueue(tx, memberChanged, caller.workspaceId, { userId });
        const details = { sessions: closed.length, tokens: revoked.length };
        await recordChange(
          tx,
          actor,
          'user.signed_out_everywhere',
          { workspaceId: caller.workspaceId, id: userId },
          details,
        );
        return [...closed, ...revoked];
      });
      for (const id of ended) identities.evictToken(id);
      sessionCookie.clear(res);
      return noContent();
    },
  };
}
