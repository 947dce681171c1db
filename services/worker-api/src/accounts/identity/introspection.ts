/** Resolves credentials: for this service's own requests, and for the other services over NATS. */
import { type Introspect, type LastUse, parseOpaqueToken, type TokenHasher } from '@gantry/auth';
import {
  type Bus,
  encode,
  type Identity,
  INTROSPECT_SUBJECT,
  type IntrospectRequest,
  introspectRequest,
  listen,
  type Restriction,
  restriction,
} from '@gantry/events';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { isGrantId } from '../grants/grant';
import { buildMcpResourceUrl } from '../grants/oauth-metadata';
import { toRestrictedHashInput } from '../tokens/token-restriction';
import { buildUserIdentity } from './identity';
import {
  type ExternalIdentityQuery,
  findActiveUser,
  findExternalUser,
  findGrant,
  findGrantByToken,
  findSession,
  findToken,
  findUserInSession,
  type GrantRow,
  rehashToken,
  type TokenRow,
} from './identity-repository';

export function createIntrospector(options: {
  pool: Pool;
  hasher: TokenHasher;
  tokenUse: LastUse;
  /** The public address of the worker surface. */
  baseUrl: string;
}): Introspect {
  const { pool, hasher, tokenUse, baseUrl } = options;

  async function identifyToken(text: string, enforcedRules: string[]): Promise<Identity | null> {
    const prefix = parseOpaqueToken(text)?.prefix;
    if (prefix === 'oat_') {
      return buildGrantIdentity(
        await findGrantByToken(pool, hasher.candidates(text), buildMcpResourceUrl(baseUrl)),
        enforcedRules,
      );
    }
    if (prefix !== 'svc_' && prefix !== 'wst_') return null;
    const row = await findToken(pool, [text, toRestrictedHashInput(text)].flatMap(hasher.candidates));
    if (!row) return null;
    const form = row.restriction === null ? text : toRestrictedHashInput(text);
    if (!hasher.matches(form, row.hash)) return null;
    const rules = parseRowRestriction(row, enforcedRules);
    if (rules === null) return null;
    tokenUse.note(row.id, row.last_used_at);
    const current = hasher.hash(form);
    // An older pepper can be removed once every token in use has been rehashed. Until then the old hash works as well.
    if (row.pepper_version !== current.pepperVersion) await rehashToken(pool, row.id, current).catch(() => {});
    return buildTokenIdentity(row, rules);
  }

  async function identifySession(text: string): Promise<Identity | null> {
    if (parseOpaqueToken(text)?.prefix !== 'ses_') return null;
    const row = await findSession(pool, hasher.candidates(text));
    if (!row || !hasher.matches(text, row.hash)) return null;
    return buildUserIdentity('session', row, { tokenId: row.session_id, expiresAt: row.expires_at });
  }

  /** A JWT with a session id is cached under that id, so that both end together. */
  async function identifyUser({
    userId,
    sessionId,
    madeAt: epochMs,
    enforces: enforcedRules = [],
  }: UserQuery): Promise<Identity | null> {
    if (sessionId && isGrantId(sessionId))
      return buildGrantIdentity(await findGrant(pool, sessionId, userId), enforcedRules);
    const madeAt = epochMs === undefined ? null : new Date(epochMs);
    const user = sessionId
      ? await findUserInSession(pool, userId, sessionId)
      : await findActiveUser(pool, userId, madeAt);
    return user && buildUserIdentity('jwt', user, { tokenId: sessionId ?? null, expiresAt: null, madeAt });
  }

  async function identifyExternal(query: ExternalIdentityQuery): Promise<Identity | null> {
    const user = await findExternalUser(pool, query);
    return user && buildUserIdentity('jwt', user, { tokenId: null, expiresAt: null });
  }

  return (query) => {
    switch (query.kind) {
      case 'token':
        return identifyToken(query.token, query.enforces ?? []);
      case 'session':
        return identifySession(query.cookie);
      case 'user':
        return identifyUser(query);
      case 'external':
        return identifyExternal(query);
    }
  };
}

type UserQuery = Extract<IntrospectRequest, { kind: 'user' }>;

/**
 * Null: refused, since the asking service or this version does not know one of its rules. Undefined: not restricted.
 */
function parseRowRestriction(
  row: Pick<TokenRow, 'restriction'>,
  enforcedRules: string[],
): Restriction | undefined | null {
  if (row.restriction === null) return undefined;
  const parsed = restriction.safeParse(row.restriction);
  // Bounded: the rules of a restriction are six, and a service sends the names of those that it knows.
  return parsed.success && Object.keys(parsed.data).every((rule) => enforcedRules.includes(rule)) ? parsed.data : null;
}

function buildTokenIdentity(row: TokenRow, rules: Restriction | undefined): Identity | null {
  if (row.user_id !== null) {
    const identity = buildUserIdentity('personal_token', row, {
      tokenId: row.id,
      expiresAt: row.expires_at,
      limit: row.role,
      preferred: row.acts_in,
      madeAt: row.made_at,
    });
    return rules ? { ...identity, ...restrictToWorkspace(row.acts_in, identity), restriction: rules } : identity;
  }
  if (row.workspace_id === null || row.role === null) return null;
  return {
    kind: 'workspace_token',
    userId: null,
    email: null,
    emailVerified: false,
    name: row.token_name,
    tokenId: row.id,
    defaultWorkspaceId: row.workspace_id,
    memberships: { [row.workspace_id]: row.role },
    expiresAt: row.expires_at?.getTime() ?? null,
    ...(rules && { restriction: rules }),
  };
}

/** Gives an OAuth client the identity of a restricted token of the person who authorized it. */
function buildGrantIdentity(row: GrantRow | null, enforcedRules: string[]): Identity | null {
  const rules = row && parseRowRestriction(row, enforcedRules);
  if (!row || !rules) return null;
  const { grant_id: tokenId, workspace_id: workspaceId, expires_at: expiresAt, made_at: madeAt } = row;
  const identity = buildUserIdentity('personal_token', row, { tokenId, expiresAt, preferred: workspaceId, madeAt });
  return { ...identity, ...restrictToWorkspace(workspaceId, identity), restriction: rules };
}

/** Limits a restricted token to the workspace where it was created: worker ids are unique only within one. */
function restrictToWorkspace(workspaceId: string | null, { memberships }: Identity) {
  const role = workspaceId === null ? undefined : memberships[workspaceId];
  return workspaceId !== null && role
    ? { defaultWorkspaceId: workspaceId, memberships: { [workspaceId]: role } }
    : { defaultWorkspaceId: '', memberships: {} };
}

/**
 * Answers each lookup on one replica. A failure is reported at once, so that the requester need not wait to answer
 * 503.
 */
export function serveIntrospection(options: { bus: Bus; introspect: Introspect; log: Logger }): { stop(): void } {
  const { bus, introspect, log } = options;
  const subscription = listen(
    bus,
    INTROSPECT_SUBJECT,
    introspectRequest,
    async (query, message) => {
      try {
        message.respond(encode({ identity: await introspect(query) }));
      } catch (err) {
        log.warn({ err }, 'introspection failed');
        // Deliberately not an introspectReply: the requester treats it as a failure.
        message.respond(encode({ error: 'unavailable' }));
      }
    },
    { queue: 'worker-api', log },
  );
  return { stop: () => subscription.unsubscribe() };
}
