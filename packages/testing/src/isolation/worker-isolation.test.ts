/**
 * The worker surface as strangers see it, and at last what is left of a deleted workspace.
 * @sequential
 */
import { createOpaqueToken } from '@gantry/auth';
import { newId } from '@gantry/events';
import { openapiFiles } from '@gantry/openapi';
import { parseModels } from '../../../../services/worker-api/src/test/parse-models';
import { BASE_URL, startTestWorkerApi, withCookie } from '../../../../services/worker-api/src/test/test-worker-api';
import type { ClosingSurface } from './closed-matrix';
import { createUnknownIds } from './matrix';
import { testIsolation } from './test-isolation';
import { workerFixtures } from './worker-fixtures';

/** Every operation answers by four names, the probes too; signing in by two. */
const aliases = (documented: string): string[] => {
  const bare = documented.replace(/^\/api(?=\/)/, '');
  const prefixes = /^\/auth\/(?!me$)/.test(bare) ? ['', '/v1'] : ['', '/api', '/v1', '/api/v1'];
  return prefixes.map((prefix) => prefix + bare);
};

/** Without a listener: a request that gets as far as a call of the model has got too far. */
const nobodysModel = { name: 'local', kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', models: ['m'] };

async function start(): Promise<ClosingSurface & { stop(): Promise<void> }> {
  const api = await startTestWorkerApi({ models: parseModels([nobodysModel]) });
  const { owner, foreign, workspaceId } = api;
  const [viewer, member, admin] = [
    await api.addMember('viewer'),
    await api.addMember('member'),
    await api.addMember('admin'),
  ];
  const asOwner = async (method: string, route: string, body?: object) => {
    const answer = await fetch(api.url + route, {
      method,
      headers: { Authorization: `Bearer ${owner.jwt}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${route}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };

  const invitation = await asOwner('POST', `/api/workspaces/${workspaceId}/members/invite`, {
    email: 'grace@example.com',
    role: 'member',
  });
  const worker = await asOwner('POST', '/api/workers', {
    id: 'payroll-of-home',
    name: 'Payroll of home',
    tags: ['tag-of-home'],
    trigger: 'webhook',
    files: [{ path: 'main.py', content: 'def run():\n    return 1\n' }],
  });
  const run = await asOwner('POST', `/api/workers/${worker.id}/runs`, { inputs: {} });
  const checks = [{ kind: 'equal', value: 'only for the home workspace' }];
  const example = await asOwner('POST', `/api/workers/${worker.id}/examples`, { name: 'Example of home', checks });
  const evaluation = await asOwner('POST', `/api/workers/${worker.id}/evaluations`, {});
  const candidate = await asOwner('POST', `/api/workers/${worker.id}/candidates`, { limits: { timeout_seconds: 9 } });
  const asking = await asOwner('POST', '/api/workers', {
    name: 'Asks first',
    files: [{ path: 'main.py', content: 'def run():\n    return 1\n' }],
    approvals: { required: true },
  });
  await asOwner('POST', `/api/workers/${asking.id}/runs`, { inputs: {} });
  const [approval] = await asOwner('GET', '/api/approvals');
  const shareLink = await asOwner('POST', `/api/runs/${run.run_id}/share-links`, {});
  const artifact = newId('art_');
  await api.database.pool.query(
    `INSERT INTO run_artifacts (id, run_id, workspace_id, name, content_type, size, sha256, key)
     VALUES ($1, $2, $3, 'a.txt', 'text/plain', 1, 'a', 'a')`,
    [artifact, run.run_id, workspaceId],
  );
  const context = await asOwner('POST', '/api/contexts', {
    name: 'contracts-of-home',
    files: [{ path: 'docs/notes.txt', content: 'only for the home workspace' }],
  });
  await asOwner('PUT', '/api/secrets/SECRET_OF_HOME', { value: 'never to be seen' });
  const connection = await asOwner('POST', '/api/connections', {
    app: 'key-of-home',
    value: 'never to be seen',
    visibility: 'workspace',
    hosts: ['models-of-home.example'],
  });
  await asOwner('POST', '/api/models/providers', {
    name: 'models-of-home',
    kind: 'openai-compatible',
    models: ['m'],
    connection_id: connection.id,
    base_url: 'https://models-of-home.example/v1',
  });
  await asOwner('PUT', '/api/integrations/apps/app-of-home', {
    client_id: 'client-of-home',
    provider: {
      protocol: 'oauth2',
      name: 'App of home',
      hosts: ['api-of-home.example'],
      authorize_url: 'https://id-of-home.example/authorize',
      token_url: 'https://id-of-home.example/token',
    },
  });
  const tool = await asOwner('POST', '/api/mcp-tools', { worker_id: worker.id, name: 'tool_of_home' });
  const workerConversation = newId('wcv_');
  await api.database.pool.query(
    `INSERT INTO worker_conversations (id, workspace_id, worker_uid, title, inputs)
     SELECT $1, workspace_id, uid, 'Conversation with an agent of home', '{}' FROM workers WHERE workspace_id = $2 AND id = $3`,
    [workerConversation, workspaceId, worker.id],
  );
  const conversation = newId('cnv_');
  const turn = newId('trn_');
  const call = newId('call_');
  await api.database.pool.query(
    "INSERT INTO conversations (id, workspace_id, owner_id, title) VALUES ($1, $2, $3, 'Conversation of home')",
    [conversation, workspaceId, owner.userId],
  );
  await api.database.pool.query(
    `INSERT INTO chat_turns (id, conversation_id, number, message, model, status)
     VALUES ($1, $2, 1, 'message of home', '', 'waiting')`,
    [turn, conversation],
  );
  await api.database.pool.query(
    `INSERT INTO chat_parts (turn_id, number, kind, content, call_id, status)
     VALUES ($1, 1, 'call', '{"modelCallId":"c","name":"cancel_run","title":"t","arguments":{},"workerId":null}', $2, 'pending')`,
    [turn, call],
  );
  const alert = await asOwner('POST', '/api/alerts', { on: ['run.failed'], url: 'https://hooks-of-home.example' });
  const delivery = await api.deps.prisma.alertDelivery.create({
    data: {
      id: newId('dlv_'),
      alertId: alert.id,
      workspaceId,
      eventId: newId('evt_'),
      channel: 'webhook',
      type: 'run.failed',
      payload: {},
      status: 'dead',
      endedAt: new Date(),
    },
  });
  const [session] = await asOwner('GET', '/auth/sessions');
  const deleted = await asOwner('POST', '/api/workspaces', { name: 'Gone' });
  await fetch(`${api.url}/api/workspaces/${deleted.id}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${owner.jwt}`, 'x-svc-workspace': deleted.id },
  });
  const personal = await api.createToken('personal', owner.jwt);
  const ofHome = await api.createToken('workspace', owner.jwt);
  const expired = await api.createToken('workspace', owner.jwt);
  await api.database.pool.query("UPDATE tokens SET expires_at = now() - interval '1 second' WHERE id = $1", [
    expired.id,
  ]);
  const expiresAt = Date.now() + 3_600_000;
  const createLimitedToken = async (kind: 'personal' | 'workspace', body: object) =>
    (await api.createToken(kind, owner.jwt, body)).token;
  const limited = {
    expired: expired.token,
    viewer: await createLimitedToken('personal', { role: 'viewer' }),
    expiring: await createLimitedToken('personal', { expires_at: new Date(expiresAt).toISOString() }),
    expiresAt,
    restricted: await createLimitedToken('workspace', { role: 'viewer' }),
    admin: await createLimitedToken('workspace', {}),
  };
  await asOwner('POST', '/api/workers', {
    name: 'Another worker',
    files: [{ path: 'main.py', content: 'def run(): pass' }],
  });
  const restricted = {
    readonly: await createLimitedToken('personal', { restrict: { readonly: true } }),
    elsewhere: await createLimitedToken('personal', {
      restrict: { workers: ['another-worker'], automations: ['aut_another'] },
    }),
  };
  const revoked = await api.createToken('personal', owner.jwt);
  await fetch(`${api.url}/auth/tokens/${revoked.id}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${owner.jwt}` },
  });

  const oauthGrant = newId('gra_');
  await api.deps.prisma.oauthGrant.create({
    data: {
      id: oauthGrant,
      userId: owner.userId,
      workspaceId,
      clientId: 'ocl_of_home',
      resource: `${BASE_URL}/mcp`,
      restriction: { toolsets: ['workers'] },
      lastUsedAt: new Date(),
      expiresAt: new Date(expiresAt),
    },
  });

  const real = {
    oauthGrant,
    workspace: workspaceId,
    deletedWorkspace: deleted.id,
    member: member.userId,
    invitation: invitation.id,
    session: session.id,
    personalToken: personal.id,
    workspaceToken: ofHome.id,
    worker: worker.id,
    run: run.run_id,
    example: example.id,
    evaluation: evaluation.id,
    candidate: candidate.id,
    approval: approval.id,
    shareLink: shareLink.id,
    shareToken: shareLink.token,
    artifact,
    context: context.name,
    secret: 'SECRET_OF_HOME',
    connection: connection.id,
    modelProvider: 'models-of-home',
    integration: 'app-of-home',
    tool: tool.name,
    conversation,
    workerConversation,
    call,
    alert: alert.id,
    delivery: delivery.id,
    alertReceiver: 'hooks-of-home.example',
    workerTag: 'tag-of-home',
    webhookSecret: worker.webhook_secret,
    reviewToken: new URL(approval.review_url).pathname.replace('/review/', ''),
  };
  return {
    openapiFile: openapiFiles.worker,
    url: api.url,
    pool: api.database.pool,
    aliases,
    fixtures: workerFixtures,
    real,
    unknown: { ...createUnknownIds(real), secret: 'NOT_A_SECRET', tool: 'no_such_tool' },
    homeWorkspaceId: workspaceId,
    home: { viewer: viewer.jwt, member: member.jwt, admin: admin.jwt, owner: owner.jwt },
    foreign: {
      workspaceId: foreign.workspaceId,
      personal: (await api.createToken('personal', foreign.owner.jwt)).token,
      workspaceToken: (await api.createToken('workspace', foreign.owner.jwt)).token,
    },
    revoked: revoked.token,
    expired: expired.token,
    apiKey: createOpaqueToken('rly_'),
    credentials: {
      'a workspace token': { Authorization: `Bearer ${ofHome.token}` },
      'a personal token': { Authorization: `Bearer ${personal.token}` },
      'a session': { Cookie: withCookie(owner.cookie), 'Sec-Fetch-Site': 'same-origin', Origin: BASE_URL },
    },
    closeHome: async () => {
      await fetch(`${api.url}/api/reviews/${real.reviewToken}`).then((answer) => expect(answer.status).toBe(200));
      await asOwner('DELETE', `/api/workspaces/${workspaceId}`);
    },
    limited,
    restricted,
    stop: api.stop,
  };
}

testIsolation(openapiFiles.worker, start);
