/**
 * Messages by which other services request identities (`auth.introspect.v1`) and members (`auth.members.v1`) from
 * worker-api.
 */
import { z } from 'zod';

export const INTROSPECT_SUBJECT = 'auth.introspect.v1';

export const roles = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

/**
 * A restriction narrows a token below its role (ADR 42). A rule that is absent restricts nothing. Strict: a service
 * that reads an unknown rule refuses the token, because it could not enforce that rule.
 */
export const restriction = z.strictObject({
  /** Ids of workers. With this or `automations`, the token reaches only the resources that the two name. */
  workers: z.array(z.string()).optional(),
  automations: z.array(z.string()).optional(),
  toolsets: z.array(z.string()).optional(),
  readonly: z.literal(true).optional(),
  /** Runs that the token starts wait for an approval. */
  requireApproval: z.literal(true).optional(),
  /** The token's own budget and those of its parent tokens: runs that it starts count against each. US dollars. */
  budgets: z.array(z.object({ tokenId: z.string(), usd: z.number() })).optional(),
});
export type Restriction = z.infer<typeof restriction>;

/** The rules that this version enforces. */
export const RESTRICTION_RULES: readonly string[] = Object.keys(restriction.shape);

export const introspectRequest = z.discriminatedUnion('kind', [
  /** An opaque `svc_` or `wst_` token. One with a rule that the requester does not enforce is answered as unknown. */
  z.object({ kind: z.literal('token'), token: z.string(), enforces: z.array(z.string()).default([]) }),
  /** The session cookie. */
  z.object({ kind: z.literal('session'), cookie: z.string() }),
  /**
   * The user named by a verified JWT of our own; unknown if the JWT's session has ended. Or the user of a service's own key
   * created at `madeAt` (epoch milliseconds); unknown if keys of that age are refused. In place of a session, a JWT may
   * name a user's grant to an OAuth client, which is restricted like a token.
   */
  z.object({
    kind: z.literal('user'),
    userId: z.string(),
    sessionId: z.string().optional(),
    madeAt: z.int().optional(),
    enforces: z.array(z.string()).default([]),
  }),
  /** The subject of a verified JWT of the configured external issuer. */
  z.object({
    kind: z.literal('external'),
    issuer: z.string(),
    subject: z.string(),
    /** Present only if the issuer marks it as verified. */
    email: z.string().nullable(),
  }),
]);
export type IntrospectRequest = z.input<typeof introspectRequest>;

export const identity = z.object({
  /** `api_key` is a key of the skills surface, which only skills-api knows. */
  kind: z.enum(['personal_token', 'workspace_token', 'session', 'jwt', 'api_key']),
  userId: z.string().nullable(),
  email: z.string().nullable(),
  /**
   * Whether the address is verified and the credential is no older than the verification. Anything granted to an address
   * requires it.
   */
  emailVerified: z.boolean().default(false),
  /**
   * Start of the current holder's ownership of the account (epoch milliseconds), for a user whose address is not
   * verified. Absent for a verified one, for a credential that is older, and for a workspace token.
   */
  holderSince: z.int().optional(),
  name: z.string().nullable(),
  tokenId: z.string().nullable(),
  defaultWorkspaceId: z.string(),
  /** Role by workspace id: every workspace that this credential may act in. */
  memberships: z.record(z.string(), z.enum(roles)),
  expiresAt: z.int().nullable(),
  restriction: restriction.optional(),
});
export type Identity = z.infer<typeof identity>;

export const introspectReply = z.object({ identity: identity.nullable() });

export const MEMBERS_SUBJECT = 'auth.members.v1';

/** Looks up the members of a workspace with these addresses; never an account outside it (ADR 23). */
export const membersRequest = z.object({
  workspaceId: z.string(),
  /** Lower case. */
  emails: z.array(z.string()).max(200),
});

export const workspaceMember = z.object({
  userId: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  /** As in an identity, but for every member. */
  holderSince: z.int(),
});
export type WorkspaceMember = z.infer<typeof workspaceMember>;

export const membersReply = z.object({ members: z.array(workspaceMember) });
