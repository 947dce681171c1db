/** Connections of the workspace, and a catalogue of two services. */
import type { WorkerSchemas } from '@gantry/api-client';
import type { FakeAnswer, FakeRequest } from './fake-accounts';

type Schemas = WorkerSchemas;

export interface FakeConnections {
  list: Schemas['Connection'][];
  catalog: Schemas['Integration'][];
  /** Bodies of requests, as `METHOD /path` and what was sent. */
  sent: { line: string; body: object }[];
  /** Error of the next check. */
  error: string | null;
}

export const newConnection = (id: string, over: Partial<Schemas['Connection']> = {}): Schemas['Connection'] => ({
  ...{ id, kind: 'oauth', app: 'github', label: 'Team account', visibility: 'workspace', owner_id: 'usr_ada' },
  ...{ status: 'active', problem: null, scopes: ['repo'], account_label: 'octocat', hosts: ['api.github.com'] },
  ...{ parameters: {}, url: null, auth_secret: null, allowed_tools: null, expires_at: null, last_checked_at: null },
  ...{ last_used_at: null, created_at: new Date().toISOString(), updated_at: new Date().toISOString(), used_by: [] },
  permissions: { edit: true, delete: true, change_visibility: true },
  ...over,
});

const service = (slug: string, name: string, over: Partial<Schemas['Integration']> = {}): Schemas['Integration'] => ({
  ...{ slug, name, description: `What ${name} has`, category: 'Code', kind: 'oauth', logo: name.slice(0, 2) },
  ...{ docs_url: 'https://docs.example.com', hosts: [`api.${slug}.com`], parameters: [], tools_count: 2 },
  scopes: [
    { name: 'read', description: 'Read everything', default: true },
    { name: 'write', description: 'Change everything', default: false },
  ],
  app: {
    ...{ slug, configured: 'operator', client_id: 'client', how: null },
    redirect_uri: 'http://localhost:8081/auth/connections/callback',
  },
  ...over,
});

export function newConnections(): FakeConnections {
  const bare = service('linear', 'Linear');
  const how = 'An admin sets one with PUT /api/integrations/apps/linear, or the operator in OAUTH_APPS.';
  return {
    list: [],
    catalog: [
      service('github', 'GitHub'),
      { ...bare, app: { ...bare.app, configured: null, client_id: null, how } },
      service('shopify', 'Shopify', { parameters: [{ name: 'shop', label: 'Shop', placeholder: 'my-shop' }] }),
    ],
    sent: [],
    error: null,
  };
}

/** Undefined for what belongs to another resource. */
export async function answerConnection(
  fake: FakeConnections,
  role: string | null,
  { line, part, signedIn, body }: FakeRequest,
  origin: string,
): Promise<FakeAnswer | undefined> {
  if (line === 'GET /api/integrations/catalog' && signedIn) return { status: 200, body: fake.catalog };
  if (part[2] !== 'connections' || part[1] !== 'api') return undefined;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  const shown = (one: Schemas['Connection']) =>
    role === 'viewer' ? { ...one, permissions: { edit: false, delete: false, change_visibility: false } } : one;
  if (line === 'GET /api/connections') return { status: 200, body: fake.list.map(shown) };
  if (line.startsWith('POST /api/connections') && (part[3] === undefined || part[3] === 'mcp')) {
    const given = (await body()) as Partial<Schemas['Connection']> & { value?: string };
    fake.sent.push({ line, body: given });
    const kind = part[3] === 'mcp' ? 'mcp' : given.value ? 'api_key' : 'oauth';
    const made = newConnection(`con_${fake.list.length}`, {
      kind,
      account_label: null,
      label: given.label ?? 'GitHub',
    });
    fake.list.unshift({ ...made, status: kind === 'oauth' ? 'pending' : 'active' });
    const url = kind === 'oauth' ? `${origin}/connections?consent=asked` : null;
    return { status: 201, body: { ...made, authorization_url: url } };
  }
  const found = fake.list.find(({ id }) => id === part[3]);
  if (!found) return { status: 404, body: { detail: 'no such connection' } };
  if (line.startsWith('DELETE')) {
    fake.list = fake.list.filter((one) => one !== found);
    return { status: 204 };
  }
  if (part[4] === 'authorize') {
    return { status: 200, body: { id: found.id, authorization_url: `${origin}/connections?consent=again` } };
  }
  const { error } = fake;
  Object.assign(found, { status: error ? 'error' : 'active', problem: error });
  const tested = { ok: error === null, status: found.status, error, account_label: found.account_label };
  return { status: 200, body: { ...tested, tested_at: new Date().toISOString() } };
}
