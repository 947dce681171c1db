/** Fakes connections of the workspace, and a catalogue of services. */
import type { WorkerSchemas } from '@gantry/sdk';
import type { FakeRequest, FakeResponse } from './fake-accounts';

type Schemas = WorkerSchemas;
type Connection = Schemas['Connection'];

export interface FakeConnections {
  list: Schemas['Connection'][];
  catalog: Schemas['Integration'][];
  /** Tools of MCP servers, by connection; a string is the error of the server. */
  tools: Record<string, Schemas['ConnectionTool'][] | string>;
  /** Tools of services, by slug. */
  catalogTools: Record<string, Schemas['ConnectionTool'][]>;
  /** Bodies of requests, as `METHOD /path` and what was sent. */
  sent: { line: string; body: object }[];
  /** Error of the next check. */
  error: string | null;
}

export const buildConnection = (id: string, over: Partial<Schemas['Connection']> = {}): Schemas['Connection'] => ({
  id,
  kind: 'oauth',
  app: 'github',
  label: 'Team account',
  visibility: 'workspace',
  owner_id: 'usr_ada',
  status: 'active',
  problem: null,
  scopes: ['repo'],
  account_label: 'octocat',
  hosts: ['api.github.com'],
  places: ['header'],
  parameters: {},
  url: null,
  issuer: null,
  auth_secret: null,
  allowed_tools: null,
  expires_at: null,
  last_checked_at: null,
  last_used_at: null,
  created_at: new Date().toISOString(),
  updated_at: new Date().toISOString(),
  used_by: [],
  permissions: { edit: true, delete: true, change_visibility: true },
  ...over,
});

export const buildLinearConnection = (over: Partial<Schemas['Connection']>): Schemas['Connection'] =>
  buildConnection('con_linear', {
    kind: 'mcp',
    app: 'linear',
    label: 'Linear',
    account_label: null,
    url: 'https://mcp.linear.example/mcp',
    ...over,
  });

const buildIntegration = (
  slug: string,
  name: string,
  over: Partial<Schemas['Integration']> = {},
): Schemas['Integration'] => ({
  slug,
  name,
  description: `What ${name} has`,
  category: 'Code',
  kind: 'oauth',
  logo: name.slice(0, 2),
  docs_url: 'https://docs.example.com',
  hosts: [`api.${slug}.com`],
  parameters: [],
  tools_count: 2,
  scopes: [
    { name: 'read', description: 'Read everything', default: true },
    { name: 'write', description: 'Change everything', default: false },
  ],
  app: {
    slug,
    configured: 'operator',
    client_id: 'client',
    how: null,
    redirect_uri: 'http://localhost:8081/auth/connections/callback',
  },
  ...over,
});

export const buildTool = (name: string, over: Partial<Schemas['ConnectionTool']> = {}): Schemas['ConnectionTool'] => ({
  name,
  description: `Does ${name.replaceAll('_', ' ')}`,
  input_schema: { type: 'object', properties: {} },
  ...over,
});

const ISSUE_SCHEMA = {
  type: 'object',
  required: ['owner', 'repo'],
  properties: {
    owner: { type: 'string', description: 'User or organization' },
    repo: { type: 'string', description: 'Name of the repository' },
    state: { type: 'string', enum: ['open', 'closed', 'all'], description: 'Only those in this state' },
    per_page: { type: 'integer', minimum: 1, maximum: 100, description: 'Items on a page' },
    labels: { type: 'array', items: { type: 'string' }, description: 'Names of labels' },
  },
};
const ISSUES_URL = 'https://api.github.com/repos/{owner}/{repo}/issues';

export function createConnectionState(): FakeConnections {
  const unconfigured = buildIntegration('linear', 'Linear');
  const how = 'An admin sets one with PUT /api/integrations/apps/linear, or the operator in OAUTH_APPS.';
  return {
    list: [],
    catalog: [
      buildIntegration('github', 'GitHub'),
      { ...unconfigured, app: { ...unconfigured.app, configured: null, client_id: null, how } },
      buildIntegration('shopify', 'Shopify', { parameters: [{ name: 'shop', label: 'Shop', placeholder: 'my-shop' }] }),
    ],
    tools: {},
    catalogTools: {
      github: [
        buildTool('list_issues', {
          description: 'Lists issues of a repository; pull requests are among them',
          input_schema: ISSUE_SCHEMA,
          request: { method: 'GET', url: ISSUES_URL },
        }),
        buildTool('list_repositories', { request: { method: 'GET', url: 'https://api.github.com/user/repos' } }),
        buildTool('create_issue', { input_schema: ISSUE_SCHEMA, request: { method: 'POST', url: ISSUES_URL } }),
      ],
    },
    sent: [],
    error: null,
  };
}

/** Returns undefined for requests of another resource. */
export async function handleConnectionRequest(
  fake: FakeConnections,
  role: string | null,
  { line, part, query, signedIn, body }: FakeRequest,
  origin: string,
): Promise<FakeResponse | undefined> {
  if (line === 'GET /api/integrations/catalog' && signedIn) return { status: 200, body: fake.catalog };
  if (part[2] === 'integrations' && part[3] === 'apps') return setOauthClient(fake, part[4], line, await body());
  if (part[2] === 'integrations' && part[5] === 'tools') {
    return { status: 200, body: fake.catalogTools[part[4] ?? ''] ?? [] };
  }
  if (part[2] !== 'connections' || part[1] !== 'api') return undefined;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  const withRolePermissions = (one: Schemas['Connection']) =>
    role === 'viewer' ? { ...one, permissions: { edit: false, delete: false, change_visibility: false } } : one;
  if (line === 'GET /api/connections') {
    const app = query.get('app');
    return { status: 200, body: fake.list.filter((one) => !app || one.app === app).map(withRolePermissions) };
  }
  if (line.startsWith('POST /api/connections') && (part[3] === undefined || part[3] === 'mcp')) {
    const input = (await body()) as Partial<Schemas['Connection']> & { value?: string; auth?: string };
    fake.sent.push({ line, body: input });
    const kind = part[3] === 'mcp' ? 'mcp' : input.value ? 'api_key' : 'oauth';
    const needsConsent = kind === 'oauth' || input.auth === 'oauth';
    const created = buildConnection(`con_${fake.list.length}`, {
      kind,
      account_label: null,
      label: input.label ?? 'GitHub',
    });
    fake.list.unshift({ ...created, status: needsConsent ? 'pending' : 'active' });
    const url = needsConsent ? `${origin}/connections?consent=asked` : null;
    const warnings = input.value === undefined ? undefined : ['it is under 12 characters'];
    return { status: 201, body: { ...created, warnings, authorization_url: url } };
  }
  const connection = fake.list.find(({ id }) => id === part[3]);
  if (!connection) return { status: 404, body: { detail: 'no such connection' } };
  if (part[4] === undefined && line.startsWith('GET')) return { status: 200, body: withRolePermissions(connection) };
  if (part[4] === 'tools') return listTools(fake, connection);
  if (line.startsWith('PATCH')) return updateConnection(fake, connection, line, await body());
  if (line.startsWith('DELETE')) {
    if (connection.used_by.length > 0 && query.get('force') !== 'true') {
      return { status: 409, body: { detail: 'workers declare it', code: 'in_use' } };
    }
    fake.list = fake.list.filter((one) => one !== connection);
    return { status: 204 };
  }
  if (part[4] === 'authorize') {
    fake.sent.push({ line, body: await body() });
    return { status: 200, body: { id: connection.id, authorization_url: `${origin}/connections?consent=again` } };
  }
  const { error } = fake;
  Object.assign(connection, { status: error ? 'error' : 'active', problem: error });
  const tested = { ok: error === null, status: connection.status, error, account_label: connection.account_label };
  return { status: 200, body: { ...tested, tested_at: new Date().toISOString() } };
}

function listTools({ tools, catalogTools }: FakeConnections, { id, kind, app, allowed_tools: allowed }: Connection) {
  if (kind !== 'mcp') return { status: 200, body: catalogTools[app] ?? [] };
  const listed = tools[id] ?? [];
  if (typeof listed === 'string') return { status: 409, body: { detail: listed, code: 'mcp_failed' } };
  return { status: 200, body: listed.map((tool) => ({ ...tool, allowed: allowed?.includes(tool.name) ?? true })) };
}

function updateConnection(fake: FakeConnections, connection: Connection, line: string, input: object): FakeResponse {
  fake.sent.push({ line, body: input });
  const { value, headers, ...fields } = input as Partial<Connection> & { value?: string; headers?: object };
  Object.assign(connection, fields, { updated_at: new Date().toISOString() });
  if (value || headers) Object.assign(connection, { status: 'active', problem: null });
  const { [connection.id]: listed } = fake.tools;
  if ('allowed_tools' in fields && Array.isArray(listed)) for (const tool of listed) tool.changed = false;
  return { status: 200, body: connection };
}

function setOauthClient({ catalog, sent }: FakeConnections, slug: string | undefined, line: string, input: object) {
  const service = catalog.find(({ app }) => app.slug === slug);
  if (!service) return { status: 404, body: { detail: 'no such app' } };
  sent.push({ line, body: input });
  const isSet = line.startsWith('PUT');
  const { client_id: id } = input as { client_id?: string };
  Object.assign(service.app, { configured: isSet ? 'workspace' : null, client_id: isSet ? id : null, how: null });
  return isSet ? { status: 200, body: service.app } : { status: 204 };
}
