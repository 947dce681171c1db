/** Fakes the accounts API of the worker surface: two workspaces, and the data that a test adds. */

import type { WorkerSchemas } from '@gantry/sdk';
import { createOauthState, type FakeOauth, handleOauthRequest } from './fake-oauth';
import { PERSON } from './person';

type Schemas = WorkerSchemas;

export interface FakeAccounts {
  me: Schemas['Me'];
  /** Workspaces that can still be restored. */
  deleted: Schemas['Workspace'][];
  members: Schemas['Member'][];
  invitations: Schemas['Invitation'][];
  tokens: Schemas['Token'][];
  audit: Schemas['AuditEntry'][];
  sessions: Schemas['Session'][];
  /** The invitation behind `#inv_good`. */
  offer: { email: string };
  /** Whether this installation sends email. */
  sendsEmail: boolean;
  /** The program that waits for the code ABCD-2345. */
  device: { decision: 'approved' | 'denied' | null; workspace: string | null };
  oauth: FakeOauth;
  /** The name of the identity provider; null without one. */
  oidcName: string | null;
  /** The workspace of the last request. */
  workspaceOf: string | null;
}

export interface FakeRequest {
  line: string;
  part: string[];
  surface: 'worker' | 'automation';
  query: URLSearchParams;
  workspaceId: string | undefined;
  signedIn: boolean;
  body: () => Promise<Record<string, string>>;
}

export interface FakeResponse {
  status: number;
  body?: object;
  headers?: Record<string, string>;
}

/** Takes the response with which a test has the next change refused. */
export function takeRefusal(fake: { refuseNext: FakeResponse | null }): FakeResponse | undefined {
  const refusal = fake.refuseNext ?? undefined;
  fake.refuseNext = null;
  return refusal;
}

const AT = '2026-01-05T09:00:00.000Z';
const LATER = '2031-01-05T09:00:00.000Z';

function buildWorkspace(id: string, name: string, role: Schemas['Role']): Schemas['Workspace'] {
  const may = role === 'owner' || role === 'admin';
  return {
    id,
    name,
    role,
    active: false,
    created_at: AT,
    allow_exposed_credentials: true,
    retention: {
      run_days: 90,
      log_days: 30,
      runs_kept: 100,
      maximums: { run_days: 365, log_days: 90, runs_kept: 1_000 },
    },
    permissions: {
      update: may,
      delete: role === 'owner',
      transfer: role === 'owner',
      invite: may,
      manage_members: may,
      manage_tokens: may,
      read_audit_log: may,
    },
  };
}

export const createAccountState = (): FakeAccounts => ({
  me: {
    id: 'usr_ada',
    email: PERSON.email,
    email_verified: false,
    name: 'Ada',
    credential: 'jwt',
    token_id: null,
    workspace_id: 'ws_ops',
    role: 'owner',
    restrict: null,
    workspaces: [buildWorkspace('ws_ops', 'Operations', 'owner'), buildWorkspace('ws_lab', 'The laboratory', 'viewer')],
  },
  deleted: [{ ...buildWorkspace('ws_old', 'The cellar', 'owner'), deleted_at: AT, purge_at: LATER }],
  members: [
    {
      user_id: 'usr_ada',
      email: PERSON.email,
      email_verified: true,
      name: 'Ada',
      role: 'owner',
      joined_at: AT,
      permissions: { change_role: false, remove: false, reset_password: false },
    },
    {
      user_id: 'usr_bob',
      email: 'bob@example.com',
      email_verified: false,
      name: null,
      role: 'member',
      joined_at: AT,
      permissions: { change_role: true, remove: true, reset_password: true },
    },
  ],
  invitations: [
    {
      id: 'inv_1',
      email: 'carol@example.com',
      role: 'viewer',
      invited_by: 'usr_ada',
      open: true,
      created_at: AT,
      expires_at: LATER,
    },
  ],
  tokens: [
    {
      id: 'tok_1',
      name: 'laptop',
      prefix: 'svc_8sWn',
      role: null,
      restrict: null,
      spent_usd: null,
      created_at: AT,
      expires_at: null,
      last_used_at: AT,
      created_by_token_id: null,
      created_by_token_revoked: false,
      made_tokens: 1,
    },
    {
      id: 'tok_2',
      name: 'of the laptop',
      prefix: 'svc_2kLm',
      role: 'viewer',
      spent_usd: 1.25,
      restrict: {
        workers: ['invoice-sync', 'report'],
        automations: null,
        toolsets: ['workers', 'runs'],
        readonly: false,
        require_approval: true,
        budget_usd: 5,
      },
      created_at: AT,
      expires_at: null,
      last_used_at: null,
      created_by_token_id: 'tok_1',
      created_by_token_revoked: false,
      made_tokens: 0,
    },
  ],
  audit: [
    {
      id: 'aud_1',
      created_at: AT,
      action: 'member.role_changed',
      address: '203.0.113.7',
      user_agent: null,
      actor: { kind: 'jwt', id: 'usr_ada', label: PERSON.email, token_id: null },
      resource: { type: 'member', id: 'usr_bob' },
      details: { from: 'viewer', to: 'member' },
      request_id: null,
      source: 'worker-api',
    },
  ],
  sessions: [
    {
      id: 'ssn_1',
      address: '203.0.113.7',
      user_agent: 'Firefox on Linux',
      current: true,
      created_at: AT,
      expires_at: LATER,
    },
    {
      id: 'ssn_2',
      address: null,
      user_agent: 'Safari on iOS',
      current: false,
      created_at: AT,
      expires_at: LATER,
    },
  ],
  offer: { email: 'grace@example.com' },
  sendsEmail: false,
  device: { decision: null, workspace: null },
  oauth: createOauthState(),
  oidcName: null,
  workspaceOf: null,
});

const SESSION_RESPONSE = { access_token: 'jwt', token_type: 'Bearer', expires_in: 3_600 };
const SESSION_COOKIE = { 'Set-Cookie': 'svc_cloud_session=fake; HttpOnly; SameSite=Lax; Path=/' };
const errorResponse = (status: number, detail: string): FakeResponse => ({ status, body: { detail } });

/** Returns undefined for requests of another surface. */
export async function handleAccountRequest(fake: FakeAccounts, req: FakeRequest): Promise<FakeResponse | undefined> {
  const { line, part, signedIn } = req;
  if (req.workspaceId) fake.workspaceOf = req.workspaceId;
  const visitorResponse = await handleVisitorRequest(fake, req);
  if (visitorResponse) return visitorResponse;
  const isAccountPath =
    part[1] === 'auth' || ['workspaces', 'workspace', 'cli-auth', 'audit-log'].includes(part[2] ?? '');
  if (!isAccountPath) return undefined;
  if (!signedIn) return errorResponse(401, 'sign in');
  if (part[2] === 'workspaces') return handleWorkspaceRequest(fake, req);
  if (part[2] === 'cli-auth') return handleDeviceRequest(fake, req);
  if (line === 'GET /auth/me') {
    return { status: 200, body: { ...fake.me, workspace_id: req.workspaceId ?? fake.me.workspace_id } };
  }
  if (line === 'GET /auth/sessions') return { status: 200, body: fake.sessions };
  if (line.startsWith('DELETE /auth/sessions/')) {
    fake.sessions = fake.sessions.filter(({ id }) => id !== part[3]);
    return { status: 204 };
  }
  if (line === 'POST /auth/logout/everywhere')
    return { status: 204, headers: { 'Set-Cookie': 'svc_cloud_session=; Max-Age=0; Path=/' } };
  if (line === 'POST /auth/password') {
    const { current_password } = await req.body();
    return current_password === PERSON.password
      ? { status: 200, body: SESSION_RESPONSE, headers: SESSION_COOKIE }
      : errorResponse(403, 'current_password: this is not your password');
  }
  if (line === 'POST /auth/email/verification') return { status: 202, body: { email: PERSON.email } };
  if (line === 'POST /auth/email/verify') {
    if ((await req.body()).token !== 'vfy_good')
      return errorResponse(410, 'this link has already been used or has expired');
    fake.me.email_verified = true;
    return {
      status: 200,
      body: { id: 'usr_ada', email: PERSON.email, email_verified: true, name: 'Ada', created_at: AT },
    };
  }
  if (line === 'POST /auth/invitations/accept') {
    fake.me.workspaces.push(buildWorkspace('ws_new', 'The archive', 'member'));
    return { status: 200, body: fake.me.workspaces.at(-1) as object };
  }
  if (part[2] === 'audit-log') {
    const kind = req.query.get('resource_type');
    const person = req.query.get('actor_id');
    const matches = ({ resource, actor }: Schemas['AuditEntry']) =>
      (!kind || resource.type === kind) && (!person || actor.id === person);
    return { status: 200, body: fake.audit.filter(matches) };
  }
  if (part[2] === 'oauth') return handleOauthRequest(fake, req);
  return handleTokenRequest(fake, req);
}

async function handleVisitorRequest(
  fake: FakeAccounts,
  { line, body }: FakeRequest,
): Promise<FakeResponse | undefined> {
  if (line === 'POST /auth/invitations/lookup') {
    if ((await body()).token !== 'inv_good') return errorResponse(410, 'this invitation has ended; ask for another');
    const offer = {
      ...fake.offer,
      role: 'member',
      workspace_name: 'The archive',
      invited_by: 'Ada',
      expires_at: LATER,
    };
    return { status: 200, body: offer };
  }
  if (line === 'GET /api/system/platform-config') {
    const provider = fake.oidcName && { oidc_name: fake.oidcName, oidc_start_url: '/auth/oidc/start' };
    const password_reset = fake.sendsEmail ? 'email' : 'ask_admin';
    return { status: 200, body: { sign_in_methods: ['password'], password_reset, ...provider } };
  }
  if (line === 'GET /auth/oidc/start') return { status: 302, headers: { Location: '/sign-in?error=oidc_not_invited' } };
  if (line === 'POST /auth/password/forgot') return { status: 202, body: { delivery: 'ask_admin' } };
  if (['POST /auth/invitations/register', 'POST /auth/password/reset', 'POST /auth/setup'].includes(line)) {
    const { password, new_password } = await body();
    if ((password ?? new_password ?? '').length < 10) return errorResponse(400, 'password: at least 10 characters');
    return { status: 200, body: SESSION_RESPONSE, headers: SESSION_COOKIE };
  }
  return undefined;
}

async function handleWorkspaceRequest(fake: FakeAccounts, req: FakeRequest): Promise<FakeResponse> {
  const { line, part } = req;
  const [verb] = line.split(' ');
  const [what, id, also] = part.slice(4);
  const currentWorkspace = fake.me.workspaces.find((one) => one.id === part[3]);
  if (line === 'POST /api/workspaces') {
    fake.me.workspaces.push(buildWorkspace('ws_made', (await req.body()).name ?? '', 'owner'));
    return { status: 201, body: fake.me.workspaces.at(-1) as object };
  }
  if (!what && currentWorkspace) {
    if (verb === 'PATCH') {
      const body: object = await req.body();
      const { name = currentWorkspace.name, retention = {}, ...others } = body as Partial<Schemas['Workspace']>;
      Object.assign(currentWorkspace, { name, ...others, retention: { ...currentWorkspace.retention, ...retention } });
    } else if (verb === 'DELETE') {
      fake.me.workspaces = fake.me.workspaces.filter((one) => one !== currentWorkspace);
      fake.deleted.push({ ...currentWorkspace, deleted_at: AT, purge_at: LATER });
    }
    return { status: 200, body: currentWorkspace };
  }
  if (line === 'GET /api/workspaces') return { status: 200, body: fake.deleted };
  if (what === 'restore') {
    const { deleted_at, purge_at, ...restored } = fake.deleted.find((one) => one.id === part[3]) ?? {};
    fake.deleted = fake.deleted.filter((one) => one.id !== part[3]);
    fake.me.workspaces.push(restored as Schemas['Workspace']);
    return { status: 200, body: restored };
  }
  if (what === 'leave')
    return errorResponse(
      409,
      'a workspace must have an owner; transfer this one or make another member an owner first',
    );
  if (also === 'password-reset') {
    return { status: 201, body: { reset_url: 'http://localhost:8081/reset-password#rst_1', expires_at: LATER } };
  }
  if (what === 'select') return { status: 200, body: currentWorkspace ?? {} };
  if (what === 'members' && id === 'invite') {
    const { email = '', role } = await req.body();
    if (fake.members.some((member) => member.email === email))
      return errorResponse(409, `${email} is already a member`);
    const created = { id: `inv_${email}`, email, role: role as Schemas['Role'], invited_by: 'usr_ada' };
    fake.invitations.unshift({ ...created, created_at: AT, expires_at: LATER, open: true });
    const invite_url = 'http://localhost:8081/invite#inv_good';
    return { status: 201, body: { ...fake.invitations[0], email_sent: false, invite_url } };
  }
  if (what === 'members' && verb === 'GET') return { status: 200, body: fake.members };
  const member = fake.members.find(({ user_id }) => user_id === id);
  if (what === 'members' && also === 'role' && member) {
    member.role = (await req.body()).role as Schemas['Role'];
    return { status: 200, body: member };
  }
  if (what === 'members') {
    fake.members = fake.members.filter((one) => one !== member);
    return { status: 204 };
  }
  if (verb === 'DELETE') {
    fake.invitations = fake.invitations.filter((one) => one.id !== id);
    return { status: 204 };
  }
  return { status: 200, body: fake.invitations };
}

async function handleDeviceRequest(fake: FakeAccounts, req: FakeRequest): Promise<FakeResponse> {
  const code = (await req.body()).user_code?.toUpperCase().replace(/[^A-Z0-9]/g, '');
  if (code !== 'ABCD2345') return errorResponse(404, 'no program waits with this code; look at your terminal again');
  const decision = { approve: 'approved', deny: 'denied' }[req.part[4] ?? ''] as 'approved' | 'denied' | undefined;
  if (decision) {
    fake.device = { decision, workspace: req.workspaceId ?? null };
    return { status: 204 };
  }
  const selectedWorkspace = fake.me.workspaces.find(({ id }) => id === (req.workspaceId ?? fake.me.workspace_id));
  return {
    status: 200,
    body: {
      user_code: 'ABCD-2345',
      client_name: 'laptop of Ada',
      address: '203.0.113.7',
      user_agent: 'gantry-cli',
      requested_at: new Date().toISOString(),
      expires_at: LATER,
      workspace: selectedWorkspace,
    },
  };
}

const NO_RESTRICTIONS = {
  workers: null,
  automations: null,
  toolsets: null,
  readonly: false,
  require_approval: false,
  budget_usd: null,
};

async function handleTokenRequest(fake: FakeAccounts, { line, part, query, body }: FakeRequest): Promise<FakeResponse> {
  if (line.startsWith('GET ')) return { status: 200, body: part[1] === 'auth' ? fake.tokens : [] };
  if (line.startsWith('DELETE ')) {
    const withDescendants = query.get('with_made') === 'true';
    const isTarget = (id: string | null) => id === part.at(-1);
    fake.tokens = fake.tokens.filter(
      (one) => !isTarget(one.id) && !(withDescendants && isTarget(one.created_by_token_id)),
    );
    return { status: 204 };
  }
  const { name = '', role, expires_at = null, restrict } = await body();
  const created = {
    id: `tok_${name}`,
    name,
    prefix: 'svc_new1',
    role: role as Schemas['Role'],
    created_at: AT,
    expires_at,
    restrict: restrict ? { ...NO_RESTRICTIONS, ...Object(restrict) } : null,
  };
  const createdByPerson = { created_by_token_id: null, created_by_token_revoked: false, made_tokens: 0 };
  if (part[1] === 'auth') fake.tokens.unshift({ ...created, spent_usd: null, last_used_at: null, ...createdByPerson });
  return { status: 201, body: { ...created, token: 'svc_new1-and-the-rest-of-it' } };
}
