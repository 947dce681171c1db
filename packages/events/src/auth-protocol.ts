/** How the other services ask worker-api who somebody is. Request/reply on `auth.introspect.v1`. */
import { z } from 'zod';

export const INTROSPECT_SUBJECT = 'auth.introspect.v1';

export const roles = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

export const introspectRequest = z.discriminatedUnion('kind', [
  /** An opaque `svc_` or `wst_` token. */
  z.object({ kind: z.literal('token'), token: z.string() }),
  /** The session cookie. */
  z.object({ kind: z.literal('session'), cookie: z.string() }),
  /**
   * A user whom a verified JWT of ours names; nobody if the session that it came from has ended. Or whom a service's own key
   * names, made at that moment (epoch milliseconds); nobody if keys of that age are refused.
   */
  z.object({
    kind: z.literal('user'),
    userId: z.string(),
    sessionId: z.string().optional(),
    madeAt: z.int().optional(),
  }),
  /** Whom a verified JWT of the configured external issuer names. */
  z.object({
    kind: z.literal('external'),
    issuer: z.string(),
    subject: z.string(),
    /** Only if the issuer says that it is verified. */
    email: z.string().nullable(),
  }),
]);
export type IntrospectRequest = z.infer<typeof introspectRequest>;

export const identity = z.object({
  /** `api_key` is a key of the skills surface, which only skills-api knows. */
  kind: z.enum(['personal_token', 'workspace_token', 'session', 'jwt', 'api_key']),
  userId: z.string().nullable(),
  email: z.string().nullable(),
  /**
   * Whether the address counts as the caller's: it was proven, and the credential is not older than the proof. What is meant
   * for an address is for nobody else.
   */
  emailVerified: z.boolean().default(false),
  name: z.string().nullable(),
  tokenId: z.string().nullable(),
  defaultWorkspaceId: z.string(),
  /** Role by workspace id: all that this credential may enter, and no other. */
  memberships: z.record(z.string(), z.enum(roles)),
  expiresAt: z.int().nullable(),
});
export type Identity = z.infer<typeof identity>;

export const introspectReply = z.object({ identity: identity.nullable() });
