/**
 * A caller gets no more by creating a credential than they have: operations that make one, asked with tokens that are less
 * than their user.
 *
 * `person`: for people who are signed in; no token may. `inherits`: what is made may do no more than the token that
 * asks and ends no later, whether or not that is asked for.
 */
import { type Role, roles } from '@gantry/events';
import type { Operation } from '@gantry/http';
import { type DatabaseState, listChangedTables } from './database-state';

export type CredentialRule = 'person' | 'inherits';

/** Tokens of the owner or of the workspace. */
export interface LimitedTokens {
  expired: string;
  /** A personal token with that role. */
  viewer: string;
  /** A personal token that ends at `expiresAt`. */
  expiring: string;
  /** Epoch milliseconds. */
  expiresAt: number;
  /** Workspace tokens. */
  restricted: string;
  admin: string;
}

interface TestResponse {
  status: number;
  text: string;
}

/** Sends the operation's request with that token. @param more of the body */
export type SendAs = (token: string, more?: object) => Promise<TestResponse>;

interface CredentialCreationOptions {
  rule: CredentialRule;
  answerTo: SendAs;
  limited: LimitedTokens;
  readState: () => Promise<DatabaseState>;
}

export async function checkCredentialCreation({
  rule,
  answerTo,
  limited,
  readState,
}: CredentialCreationOptions): Promise<string[]> {
  const { expired, viewer, expiring, restricted, admin } = limited;
  const problems: string[] = [];
  const expectRefusal = async (who: string, answer: Promise<TestResponse>, ...statuses: number[]) => {
    const { status, text } = await answer;
    if (!statuses.includes(status)) problems.push(`${who}: ${status} ${text.slice(0, 200)}`);
  };
  const before = await readState();
  await expectRefusal('expired token', answerTo(expired), 401);
  await expectRefusal('workspace token of a viewer', answerTo(restricted), 403);
  if (rule === 'person') {
    await expectRefusal('viewer token', answerTo(viewer), 403);
    await expectRefusal('expiring token', answerTo(expiring), 403);
    await expectRefusal('workspace token', answerTo(admin), 403);
  } else {
    await expectRefusal('viewer token that asks for more', answerTo(viewer, { role: 'admin' }), 403);
    await expectRefusal(
      'expiring token that asks for longer',
      answerTo(expiring, { expires_at: '2999-01-01T00:00:00.000Z' }),
      403,
    );
  }
  const changed = listChangedTables(before, await readState());
  if (changed.length) problems.push(`a refusal changed ${changed.join(', ')}`);
  if (rule === 'inherits') {
    problems.push(...findExcessRights('viewer token', await answerTo(viewer), { role: 'viewer', expiresAt: null }));
    problems.push(...findExcessRights('expiring token', await answerTo(expiring), { role: 'owner', ...limited }));
  }
  return problems;
}

/** Problems where a credential can do more than the one that made it. */
function findExcessRights(
  tokenLabel: string,
  { status, text }: TestResponse,
  maker: { role: Role; expiresAt: number | null },
): string[] {
  if (status === 403) return [];
  if (status >= 400) return [`${tokenLabel}: ${status} ${text.slice(0, 200)}`];
  const made: { role: Role | null; expires_at: string | null } = JSON.parse(text);
  const problems: string[] = [];
  // Null: whatever the user may, who is an owner.
  if (roles.indexOf(made.role ?? 'owner') > roles.indexOf(maker.role))
    problems.push(`${tokenLabel}: made one of ${made.role}`);
  const ends = made.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(made.expires_at);
  if (maker.expiresAt !== null && ends > maker.expiresAt)
    problems.push(`${tokenLabel}: made one that ends ${made.expires_at}`);
  return problems;
}

/** Names of fields that hold what opens an account. */
const CREDENTIAL = /^(token|key|access_token|reset_url|invite_url)$/;

/** Operations that require a credential and whose answer holds one, by the OpenAPI file. */
export function listCredentialOperations(document: OpenApi, operations: Operation[]): string[] {
  return operations
    .filter(({ access }) => access !== 'public' && access !== 'optional')
    .filter(({ path, method }) => {
      const responses = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method]?.responses ?? {};
      return Object.entries(responses).some(
        ([status, response]) =>
          status.startsWith('2') && listPropertyNames(document, response).some((name) => CREDENTIAL.test(name)),
      );
    })
    .map(({ id }) => id);
}

export interface OpenApi {
  paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>;
}

/** The fields of a JSON answer, of the whole file's schemas that it names. */
function listPropertyNames(document: OpenApi, node: unknown, seen = new Set<unknown>()): string[] {
  if (node === null || typeof node !== 'object' || seen.has(node)) return [];
  seen.add(node);
  const { $ref, properties } = node as { $ref?: string; properties?: object };
  const referred = $ref?.startsWith('#/')
    ? $ref
        .slice(2)
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document)
    : undefined;
  return [
    ...Object.keys(properties ?? {}),
    ...listPropertyNames(document, referred, seen),
    ...Object.values(node).flatMap((part) => listPropertyNames(document, part, seen)),
  ];
}
