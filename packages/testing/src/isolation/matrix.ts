/**
 * The isolation matrix: every operation of a surface, asked by everybody who may not, and by every name it answers to.
 *
 * It is made from the OpenAPI file, so an operation that comes later is in it; one without a fixture fails the suite.
 * Expected are 401, 403 or 404; a database that is as before; nothing of the workspace in any answer; and that a thing
 * of another tenant answers like one that does not exist, to the byte.
 */
import { newId, type Role, roles } from '@gantry/events';
import { type Operation, readOperations } from '@gantry/http';
import type { Pool } from 'pg';
import { type CredentialRule, checkCredentialCreation, type LimitedTokens, type SendAs } from './credential-creation';
import { listChangedTables, readDatabaseState } from './database-state';
import { buildHostileRequests } from './hostile-requests';

/** Ids and names of one workspace's things, by what they are. */
export type ResourceIds = Record<string, string>;

export interface FixtureRequest {
  /** By path parameter. */
  path?: Record<string, string | undefined>;
  query?: string;
  body?: unknown;
  form?: () => FormData | URLSearchParams;
}

export interface Fixture {
  /** A request that is valid except for its sender. */
  send: (ids: ResourceIds) => FixtureRequest;
  /** The same with a key that opens it to its holder: a webhook's secret, the token of a link. */
  opens?: (ids: ResourceIds) => FixtureRequest;
  /** Every caller who is allowed makes something of their own by it, also one who signed in nowhere. */
  makes?: true;
  /** Taking away what is not there is done: 204 also for a foreign id. */
  doneAlready?: true;
  /** Ids that a restricted token may learn by this operation, because it has to name them: models. */
  tells?: string[];
  /** It makes or shows a credential: see credential-creation.ts. */
  key?: CredentialRule;
}

export interface IsolatedSurface {
  openapiFile: string;
  url: string;
  pool: Pool;
  /** The names of a documented path. */
  aliases: (path: string) => string[];
  fixtures: Record<string, Fixture>;
  /** Ids that exist in the home workspace, and ids that exist nowhere. */
  real: ResourceIds;
  unknown: ResourceIds;
  homeWorkspaceId: string;
  /** Tokens of people in the home workspace. */
  home: Record<Role, string>;
  foreign: { workspaceId: string; personal: string; workspaceToken: string };
  revoked: string;
  expired: string;
  /** A good key of the skills surface, where it is none of the credentials. */
  apiKey?: string;
  /** Good tokens of the home workspace that are less than their user. */
  limited: LimitedTokens;
  /** Good tokens of the home workspace's owner: see restricted-matrix.ts. */
  restricted: RestrictedTokens;
}

export interface RestrictedTokens {
  readonly: string;
  /** Token for a worker and an automation that are none of `real`. */
  elsewhere: string;
}

interface CredentialCase {
  name: string;
  headers: Record<string, string>;
  /** Statuses of a refusal. */
  refusals: number[];
  /** Good for something, somewhere else: an operation that names nothing may answer about the caller's own things. */
  elsewhere?: true;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
/** Unsigned: `{"alg":"none"}`. */
const unsignedJwt = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"usr_x"}').toString('base64url')}.x`;

export function listCases(surface: IsolatedSurface, { access }: Operation): CredentialCase[] {
  const { home, foreign, homeWorkspaceId } = surface;
  const withoutAny: CredentialCase = { name: 'no credential', headers: {}, refusals: [401] };
  if (access === 'public')
    return [{ ...withoutAny, name: 'anonymous', elsewhere: true, refusals: PUBLIC_REFUSAL_STATUSES }];
  const cases: CredentialCase[] = [
    access === 'optional' ? { ...withoutAny, refusals: [401, 403, 404], elsewhere: true } : withoutAny,
    { name: 'malformed', headers: bearer('wst_nonsense'), refusals: [401] },
    { name: 'another scheme', headers: { Authorization: 'Basic YTpi' }, refusals: [401] },
    { name: 'unsigned JWT', headers: bearer(unsignedJwt), refusals: [401] },
    { name: 'revoked', headers: bearer(surface.revoked), refusals: [401] },
    { name: 'expired', headers: { 'x-svc-token': surface.expired }, refusals: [401] },
    { name: 'foreign workspace token', headers: bearer(foreign.workspaceToken), refusals: [403, 404], elsewhere: true },
    { name: 'foreign personal token', headers: bearer(foreign.personal), refusals: [403, 404], elsewhere: true },
    {
      name: 'foreigner who names the workspace',
      headers: { ...bearer(foreign.personal), 'x-svc-workspace': homeWorkspaceId },
      refusals: [403],
    },
    {
      name: 'member who names a foreign workspace',
      headers: { ...bearer(home.owner), 'x-svc-workspace': foreign.workspaceId },
      refusals: [403],
    },
  ];
  if (surface.apiKey) cases.push({ name: 'rly_ key', headers: bearer(surface.apiKey), refusals: [401] });
  for (const role of roles.slice(0, Math.max(0, roles.indexOf(access as Role)))) {
    cases.push({ name: `${role} where ${access} is needed`, headers: bearer(home[role]), refusals: [403] });
  }
  return cases;
}

const PUBLIC_REFUSAL_STATUSES = [400, 401, 403, 404, 409, 410, 428, 429];

export interface IsolationMatrix {
  operations: Operation[];
  /** Operations without a fixture and fixtures without an operation. */
  unmatched: string[];
  /** @returns problems, one sentence each */
  check(operation: Operation): Promise<string[]>;
  /** The same, of what limited tokens get by an operation that makes credentials. */
  checkKeyMaking(operation: Operation): Promise<string[]>;
  requests(): number;
}

export function createIsolationMatrix(surface: IsolatedSurface): IsolationMatrix {
  const operations = readOperations(surface.openapiFile);
  const ids = new Set(operations.map(({ id }) => id));
  let requests = 0;

  async function checkCase(
    operation: Operation,
    alias: string,
    fixture: Fixture,
    credentialCase: CredentialCase,
  ): Promise<string[]> {
    const problems: string[] = [];
    const real = fixture.send(surface.real);
    const namesSomething = JSON.stringify(real) !== JSON.stringify(fixture.send(surface.unknown));
    // A good credential of elsewhere acts elsewhere if the request names nothing: only reading shows whether that
    // holds.
    if (credentialCase.elsewhere && !namesSomething && operation.method !== 'get' && operation.access !== 'public')
      return [];
    const path = buildPath(alias, real);
    requests++;
    const answer = await sendWithRetry(surface.url, operation, alias, real, credentialCase.headers);
    const where = `${operation.method.toUpperCase()} ${alias}, ${credentialCase.name}`;
    const filters = operation.method === 'get' && !real.path;
    const isAnswerAllowed = credentialCase.elsewhere && (!namesSomething || filters || operation.access === 'public');
    const done = fixture.doneAlready && credentialCase.elsewhere && answer.status === 204;
    if (!credentialCase.refusals.includes(answer.status) && !done && !(isAnswerAllowed && answer.status < 400)) {
      problems.push(`${where}: ${answer.status} ${answer.text.slice(0, 200)}`);
    }
    if (answer.status >= 400 && answer.headers.get('cache-control') !== 'no-store') {
      problems.push(`${where}: an error that a cache may keep: ${answer.headers.get('cache-control')}`);
    }
    const sentText = JSON.stringify(real) + path;
    for (const [what, id] of Object.entries(surface.real)) {
      if (answer.text.includes(id) && !sentText.includes(id)) problems.push(`${where}: tells the ${what} ${id}`);
    }
    if (credentialCase.elsewhere && namesSomething) {
      const nowhere = fixture.send(surface.unknown);
      requests++;
      const twin = await sendWithRetry(surface.url, operation, alias, nowhere, credentialCase.headers);
      const [a, b] = [toComparableText(answer, surface.real), toComparableText(twin, surface.unknown)];
      if (a !== b) problems.push(`${where}: a foreign id is told from an unknown one:\n${a}\n${b}`);
    }
    return problems;
  }

  /** Without a credential the answer is 401, whatever else is wrong. @param isSent decides by the position among all */
  async function checkHostile(
    { method, access }: Operation,
    alias: string,
    fixture: Fixture,
    isSent: (index: number) => boolean,
  ): Promise<string[]> {
    if (access === 'public' || access === 'optional') return [];
    const url = surface.url + buildPath(alias, fixture.send(surface.real));
    const hostile = buildHostileRequests(url, method.toUpperCase()).filter((_, index) => isSent(index));
    const found = hostile.map(async ({ what, send }) => {
      requests++;
      const { status } = await send();
      return status === 401 ? [] : [`${method.toUpperCase()} ${alias}, no credential and ${what}: ${status}`];
    });
    return (await Promise.all(found)).flat();
  }

  return {
    checkKeyMaking: async (operation) => {
      const { send, key } = surface.fixtures[operation.id] ?? {};
      if (!send || !key) return [`no rule for the credentials that ${operation.id} makes`];
      const sent = send(surface.real);
      const sendAs: SendAs = (token, more) => {
        const whole = more ? { ...sent, body: { ...(sent.body as object), ...more } } : sent;
        requests++;
        return sendWithRetry(surface.url, operation, operation.path, whole, bearer(token));
      };
      return checkCredentialCreation({
        rule: key,
        answerTo: sendAs,
        limited: surface.limited,
        readState: () => readDatabaseState(surface.pool),
      });
    },
    operations,
    unmatched: [
      ...operations.filter(({ id }) => !Object.hasOwn(surface.fixtures, id)).map(({ id }) => `no fixture for ${id}`),
      ...Object.keys(surface.fixtures)
        .filter((id) => !ids.has(id))
        .map((id) => `no operation for fixture ${id}`),
    ],
    requests: () => requests,
    async check(operation) {
      const fixture = surface.fixtures[operation.id];
      if (!fixture) return [`no fixture for ${operation.id}`];
      const before = await readDatabaseState(surface.pool);
      const problems: string[] = [];
      const cases = listCases(surface, operation);
      const aliases = surface.aliases(operation.path);
      for (const [at, alias] of aliases.entries()) {
        // Credentials that are good elsewhere are tried under every name. Refused ones and hostile requests are tried
        // under one name each: they are looked at when the name has already become the operation.
        const isAssignedToAlias = (index: number) => index % aliases.length === at;
        const asking = cases.filter((tried, index) => tried.elsewhere || isAssignedToAlias(index));
        const found = await Promise.all(asking.map((tried) => checkCase(operation, alias, fixture, tried)));
        problems.push(...found.flat(), ...(await checkHostile(operation, alias, fixture, isAssignedToAlias)));
      }
      const changed = fixture.makes ? [] : listChangedTables(before, await readDatabaseState(surface.pool));
      if (changed.length) problems.push(`${operation.id}: changed ${changed.join(', ')}`);
      return problems;
    },
  };
}

const BUSY_TRIES = 20;
const BUSY_MS = 500;

/** Again where the service is too busy to look, which says nothing about who may do what. */
export async function sendWithRetry(...request: Parameters<typeof sendRequest>): ReturnType<typeof sendRequest> {
  for (let tried = 1; ; tried++) {
    const answer = await sendRequest(...request);
    if (answer.status !== 503 || tried === BUSY_TRIES) return answer;
    await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
  }
}

async function sendRequest(
  url: string,
  operation: Operation,
  alias: string,
  sent: FixtureRequest,
  headers: Record<string, string>,
) {
  const form = sent.form?.();
  const answer = await fetch(url + buildPath(alias, sent) + (sent.query ? `?${sent.query}` : ''), {
    method: operation.method.toUpperCase(),
    redirect: 'manual',
    headers: { ...headers, ...(sent.body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(form ? { body: form } : sent.body !== undefined && { body: JSON.stringify(sent.body) }),
  });
  return { status: answer.status, headers: answer.headers, text: await readResponseText(answer) };
}

const STREAM_MS = 500;

/** Text of an answer; of a stream that goes on for ever, its beginning. */
async function readResponseText(response: Response): Promise<string> {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const timer = setTimeout(() => void reader.cancel(), STREAM_MS);
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  clearTimeout(timer);
  return text;
}

export function buildPath(alias: string, { path = {} }: FixtureRequest): string {
  return alias.replace(/:(\w+)/g, (_, name: string) => {
    const value = path[name];
    if (value === undefined) throw new Error(`${alias}: the fixture has no ${name}`);
    return encodeURIComponent(value);
  });
}

const VARYING = /^(x-request-id|ratelimit-.*|date|retry-after|content-length|connection|keep-alive)$/;

/** An answer without the parts that always vary and the ids that the caller sent, to be compared with another. */
function toComparableText(answer: { status: number; headers: Headers; text: string }, ids: ResourceIds): string {
  let text = answer.text;
  for (const [what, id] of Object.entries(ids)) text = text.replaceAll(id, `<${what}>`);
  const headers: string[] = [];
  answer.headers.forEach((value, name) => {
    if (!VARYING.test(name)) headers.push(`${name}: ${value}`);
  });
  return [answer.status, ...headers.sort(), text].join('\n');
}

/** As many ids of the same shape that belong to nothing. */
export function createUnknownIds(real: ResourceIds): ResourceIds {
  return Object.fromEntries(
    Object.entries(real).map(([what, id]) => {
      const [prefix] = /^[a-z]+_/.exec(id) ?? [];
      return [what, prefix ? newId(prefix) : `unknown-${what.toLowerCase()}`];
    }),
  );
}

/** Making something by POST honours Idempotency-Key, unless the caller is unknown. */
export function listNonIdempotentCreates(openapi: { paths: Record<string, Record<string, unknown>> }): string[] {
  return Object.entries(openapi.paths).flatMap(([path, { post }]) => {
    const operation = post as
      | { operationId: string; 'x-access': string; 'x-limit'?: string; 'x-idempotent'?: unknown; responses: object }
      | undefined;
    if (!operation || operation['x-access'] === 'public') return [];
    const creates = Object.hasOwn(operation.responses, '201') || operation['x-limit'] === 'runs';
    const overwrites = path.includes('/rollback');
    return (creates || overwrites) && !operation['x-idempotent'] ? [operation.operationId] : [];
  });
}
