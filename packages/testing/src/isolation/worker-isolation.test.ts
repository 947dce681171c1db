import { createOpaqueToken } from '@gantry/auth';
import { newId } from '@gantry/events';
import { openapiFiles } from '@gantry/openapi';
import { parseModels } from '../../../../services/worker-api/src/test/parse-models';
import { BASE_URL, startTestWorkerApi, withCookie } from '../../../../services/worker-api/src/test/test-worker-api';
import type { ClosingSurface } from './closed-matrix';
import { type Fixture, unknownLike } from './matrix';
import { proveIsolation } from './prove-isolation';
import { trialFixtures } from './trial-fixtures';

const nothing: Fixture = { send: () => ({}) };
const ofWorkspace: Fixture = { send: ({ workspace }) => ({ path: { workspace_id: workspace } }) };
const ofMember: Fixture = { send: ({ workspace, member }) => ({ path: { workspace_id: workspace, user_id: member } }) };
const ofInvitation: Fixture = {
  send: ({ workspace, invitation }) => ({ path: { workspace_id: workspace, invitation_id: invitation } }),
};
/** A sha that no version has: whether the worker is there is asked first. */
const sha = 'a'.repeat(64);
const ofWorker = (more: { sha?: string; body?: object } = {}): Fixture => ({
  send: ({ worker }) => ({
    path: { worker_id: worker, ...(more.sha && { sha: more.sha }) },
    ...(more.body && { body: more.body }),
  }),
});
const ofExample = (body?: object): Fixture => ({
  send: ({ worker, example }) => ({ path: { worker_id: worker, example_id: example }, ...(body && { body }) }),
});
const ofEvaluation: Fixture = {
  send: ({ worker, evaluation }) => ({ path: { worker_id: worker, evaluation_id: evaluation } }),
};
const ofAlert = (body?: object): Fixture => ({
  send: ({ alert }) => ({ path: { alert_id: alert }, ...(body && { body }) }),
});
const ofRun = (body?: object): Fixture => ({ send: ({ run }) => ({ path: { run_id: run }, ...(body && { body }) }) });
const ofGuessedShareLink: Fixture = {
  send: () => ({ path: { token: createOpaqueToken('shr_') } }),
  opens: ({ shareToken }) => ({ path: { token: shareToken } }),
};
const ofApproval = (body?: object): Fixture => ({
  send: ({ approval }) => ({ path: { approval_id: approval }, ...(body && { body }) }),
});
const ofGuessedLink = (body?: object): Fixture => ({
  send: () => ({ path: { token: `rvw_${'a'.repeat(21)}.${'b'.repeat(43)}` }, ...(body && { body }) }),
  opens: ({ reviewToken }) => ({ path: { token: reviewToken }, ...(body && { body }) }),
});
/** Ids are looked at one by one and skipped; a worker that is not there refuses the whole. */
const ofRunsOfWorker: Fixture = { send: ({ worker }) => ({ body: { filter: { worker_id: worker } } }) };
const ofContext = (more: { path?: string; sha?: string; body?: object; form?: () => FormData } = {}): Fixture => ({
  send: ({ context }) => ({
    path: { name: context, ...(more.path && { path: more.path }), ...(more.sha && { sha: more.sha }) },
    ...(more.body && { body: more.body }),
    ...(more.form && { form: more.form }),
  }),
});
const ofIssuer: Fixture = { send: () => ({ path: { issuer_digest: 'a'.repeat(43) } }) };
const ofConnection = (body?: object): Fixture => ({
  send: ({ connection }) => ({ path: { connection_id: connection }, ...(body && { body }) }),
});
const ofModelKey = (body: object): Fixture => ({
  send: ({ connection }) => ({ body: { ...body, connection_id: connection } }),
});
const ofModelProvider = (body?: object): Fixture => ({
  send: ({ modelProvider }) => ({ path: { provider_name: modelProvider }, ...(body && { body }) }),
});
const ofConversation = (body?: object): Fixture => ({
  send: ({ conversation }) => ({ path: { conversation_id: conversation }, ...(body && { body }) }),
});
const ofWorkerConversation = (body?: object): Fixture => ({
  send: ({ worker, workerConversation }) => ({
    path: { worker_id: worker, conversation_id: workerConversation },
    ...(body && { body }),
  }),
});
/** A caller who may set secrets sets one of their own workspace by it: nothing of another's is named. */
const secretOfCaller = (body: object): Fixture => ({ send: () => ({ path: { name: 'SET_BY_A_STRANGER' }, body }) });
const strangersFile = () => {
  const form = new FormData();
  form.append('file', new Blob(['of a stranger']), 'a.txt');
  return form;
};
const withBody = (body: object): Fixture => ({ send: () => ({ body }) });
const password = 'correct horse battery staple';
const userCode = withBody({ user_code: 'BCDF-2345' });
const stranger = 'stranger@example.com';
const authorization = {
  response_type: 'code',
  client_id: 'ocl_guess',
  redirect_uri: 'http://127.0.0.1/callback',
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
};

const fixtures: Record<string, Fixture> = {
  ...trialFixtures,
  live: nothing,
  ready: nothing,
  healthDetails: nothing,
  systemOverview: nothing,
  streamChanges: nothing,
  systemInfo: nothing,
  listModels: { send: () => ({}), tells: ['modelProvider'] },
  getModelUsage: nothing,
  listModelProviders: nothing,
  createModelProvider: ofModelKey({ name: 'of-a-stranger', kind: 'openai', models: ['m'] }),
  getModelProvider: ofModelProvider(),
  updateModelProvider: ofModelProvider({ models: ['taken-over'] }),
  deleteModelProvider: ofModelProvider(),
  setModelPrices: { send: ({ modelProvider }) => ({ body: { prices: { [`${modelProvider}/m`]: null } } }) },
  chat: { send: ({ conversation }) => ({ body: { message: 'of a stranger', conversation_id: conversation } }) },
  suggestMessages: nothing,
  listConversations: nothing,
  getConversation: ofConversation(),
  renameConversation: ofConversation({ title: 'Taken over' }),
  deleteConversation: ofConversation(),
  streamConversation: ofConversation(),
  stopConversation: ofConversation(),
  resumeConversation: ofConversation(),
  decideConversationCall: {
    send: ({ conversation, call }) => ({
      path: { conversation_id: conversation, call_id: call },
      body: { approve: true },
    }),
  },
  listMcpTools: nothing,
  publishMcpTool: { send: ({ worker }) => ({ body: { worker_id: worker, name: 'of_a_stranger' } }) },
  unpublishMcpTool: { send: ({ tool }) => ({ path: { name: tool } }) },
  mcp: withBody({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  platformConfig: nothing,
  jwks: nothing,
  setUp: withBody({ setup_token: 'a guess', email: stranger, password }),
  signIn: withBody({ email: 'owner@example.com', password: 'a guess at it' }),
  refreshSession: nothing,
  signOut: nothing,
  signOutEverywhere: withBody({ tokens: true }),
  listSessions: nothing,
  endSession: { send: ({ session }) => ({ path: { session_id: session } }) },
  changePassword: { ...withBody({ current_password: 'a guess at it', new_password: password }), key: 'person' },
  requestEmailVerification: { ...nothing, key: 'person' },
  verifyEmail: { ...withBody({ token: 'vfy_guess' }), key: 'person' },
  requestPasswordReset: withBody({ email: stranger }),
  resetPassword: withBody({ token: 'rst_guess', new_password: password }),
  lookUpInvitation: withBody({ token: 'inv_guess' }),
  acceptInvitation: withBody({ token: 'inv_guess' }),
  registerByInvitation: withBody({ token: 'inv_guess', password }),
  startOidc: nothing,
  finishOidc: nothing,
  me: nothing,
  listPersonalTokens: nothing,
  createPersonalToken: { ...withBody({ name: 'of a stranger' }), key: 'inherits' },
  revokePersonalToken: { send: ({ personalToken }) => ({ path: { token_id: personalToken } }) },
  startDevice: { ...withBody({ client_name: 'of a stranger' }), makes: true },
  exchangeDevice: withBody({ device_code: 'a guess', user_code: 'BCDF-2345' }),
  pollDevice: { send: () => ({ path: { device_code: 'a-guess' } }) },
  lookUpDevice: userCode,
  approveDevice: { ...userCode, key: 'person' },
  denyDevice: userCode,
  oauthServerMetadata: nothing,
  oauthServerMetadataOfMcp: nothing,
  getOauthClient: nothing,
  oauthResourceMetadata: nothing,
  oauthResourceMetadataOfMcp: nothing,
  registerOauthClient: { ...withBody({ redirect_uris: ['http://127.0.0.1/callback'] }), makes: true },
  issueOauthToken: {
    send: () => ({
      form: () =>
        new URLSearchParams({ grant_type: 'refresh_token', client_id: 'ocl_guess', refresh_token: 'a guess' }),
    }),
  },
  revokeOauthToken: { send: () => ({ form: () => new URLSearchParams({ token: 'a guess', client_id: 'ocl_guess' }) }) },
  lookUpAuthorization: withBody(authorization),
  decideAuthorization: {
    ...withBody({ request: authorization, decision: 'allow', toolsets: ['workers'] }),
    key: 'person',
  },
  listOauthGrants: nothing,
  revokeOauthGrant: { send: ({ oauthGrant }) => ({ path: { grant_id: oauthGrant } }) },
  listWorkspaces: nothing,
  createWorkspace: withBody({ name: 'Of a stranger' }),
  getWorkspace: ofWorkspace,
  updateWorkspace: { send: ({ workspace }) => ({ path: { workspace_id: workspace }, body: { name: 'Taken over' } }) },
  deleteWorkspace: ofWorkspace,
  restoreWorkspace: { send: ({ deletedWorkspace }) => ({ path: { workspace_id: deletedWorkspace } }) },
  selectWorkspace: ofWorkspace,
  leaveWorkspace: ofWorkspace,
  transferWorkspace: {
    send: ({ workspace, member }) => ({ path: { workspace_id: workspace }, body: { user_id: member } }),
  },
  listMembers: ofWorkspace,
  removeMember: ofMember,
  changeMemberRole: {
    send: ({ workspace, member }) => ({ path: { workspace_id: workspace, user_id: member }, body: { role: 'admin' } }),
  },
  createPasswordResetLink: { ...ofMember, key: 'person' },
  // Without e-mail, as here: the link would be shown.
  inviteMember: {
    key: 'person',
    send: ({ workspace }) => ({ path: { workspace_id: workspace }, body: { email: stranger, role: 'member' } }),
  },
  listInvitations: ofWorkspace,
  withdrawInvitation: ofInvitation,
  resendInvitation: { ...ofInvitation, key: 'person' },
  listAuditLog: nothing,
  exportAuditLog: nothing,
  listWorkspaceTokens: nothing,
  createWorkspaceToken: { ...withBody({ name: 'of a stranger' }), key: 'inherits' },
  listWorkers: nothing,
  createWorker: withBody({ name: 'Of a stranger', files: [{ path: 'main.py', content: 'def run(): pass' }] }),
  inspectDraft: { send: ({ worker }) => ({ body: { worker_id: worker, draft: {} } }) },
  testWorker: ofWorker({ body: { draft: {} } }),
  listWorkerTags: nothing,
  getWorker: ofWorker(),
  updateWorker: ofWorker({ body: { name: 'Taken over' } }),
  putWorker: ofWorker({ body: { name: 'Taken over' } }),
  deleteWorker: ofWorker(),
  listWorkerFiles: ofWorker(),
  writeWorkerFiles: ofWorker({ body: { files: [{ path: 'main.py', content: 'def run(): pass' }] } }),
  pauseWorker: ofWorker(),
  resumeWorker: ofWorker(),
  archiveWorker: ofWorker(),
  restoreWorker: ofWorker(),
  setWorkerVisibility: ofWorker({ body: { visibility: 'private' } }),
  listWorkerVersions: ofWorker(),
  getWorkerVersion: ofWorker({ sha }),
  approveVersion: ofWorker({ sha }),
  rollBackWorker: ofWorker({ sha }),
  getWorkerSchema: ofWorker(),
  getSampleInput: ofWorker(),
  getWorkerBundle: ofWorker(),
  listExamples: ofWorker(),
  createExample: ofWorker({ body: { name: 'Of a stranger', checks: [{ kind: 'fails' }] } }),
  getExample: ofExample(),
  updateExample: ofExample({ name: 'Taken over' }),
  deleteExample: ofExample(),
  listWorkerConversations: ofWorker(),
  createWorkerConversation: ofWorker({ body: { inputs: {} } }),
  getWorkerConversation: ofWorkerConversation(),
  deleteWorkerConversation: ofWorkerConversation(),
  sendWorkerMessage: ofWorkerConversation({ message: 'of a stranger' }),
  listEvaluations: ofWorker(),
  startEvaluation: ofWorker({ body: {} }),
  getEvaluationTable: ofWorker(),
  getEvaluation: ofEvaluation,
  stopEvaluation: ofEvaluation,
  receiveWebhook: {
    send: ({ worker }) => ({ path: { worker_id: worker }, query: 'token=a-guess', body: {} }),
    opens: ({ worker, webhookSecret }) => ({ path: { worker_id: worker }, query: `token=${webhookSecret}`, body: {} }),
  },
  listWorkerRuns: ofWorker(),
  startRun: ofWorker({ body: { inputs: {} } }),
  listRuns: { send: ({ worker }) => ({ query: `worker_id=${worker}` }) },
  exportRuns: { send: ({ worker }) => ({ query: `worker_id=${worker}` }) },
  cancelRuns: ofRunsOfWorker,
  replayRuns: ofRunsOfWorker,
  getRun: ofRun(),
  cancelRun: ofRun(),
  replayRun: ofRun({ version: 'same' }),
  listRunLogs: ofRun(),
  listRunRequests: ofRun(),
  listRecordedSteps: ofRun(),
  streamRunLogs: ofRun(),
  streamRun: ofRun(),
  streamRunEvents: ofRun(),
  downloadRun: ofRun(),
  downloadRunArtifact: { send: ({ run, artifact }) => ({ path: { run_id: run, artifact_id: artifact } }) },
  getWorkerStats: ofWorker(),
  getWorkerTimeseries: ofWorker(),
  listWorkerLogs: ofWorker(),
  listWorkerAlerts: ofWorker(),
  listApprovals: { send: ({ run }) => ({ query: `run_id=${run}` }) },
  countApprovals: nothing,
  getApproval: ofApproval(),
  approve: ofApproval({ data: {} }),
  reject: ofApproval({ reason: 'of a stranger' }),
  renewReviewLink: ofApproval(),
  approveRun: ofRun({}),
  rejectRun: ofRun({}),
  getReview: ofGuessedLink(),
  approveByLink: ofGuessedLink({ name: 'a stranger' }),
  rejectByLink: ofGuessedLink({ name: 'a stranger' }),
  createWorkerAlert: ofWorker({ body: { on: ['run.failed'], url: 'https://of-a-stranger.example' } }),
  listAlerts: { send: ({ worker }) => ({ query: `worker_id=${worker}` }) },
  createAlert: {
    send: ({ worker }) => ({ body: { worker_id: worker, on: ['run.failed'], url: 'https://of-a-stranger.example' } }),
  },
  getAlert: ofAlert(),
  updateAlert: ofAlert({ secret_rotate: true }),
  deleteAlert: ofAlert(),
  testAlert: ofAlert(),
  listAlertDeliveries: ofAlert(),
  replayAlertDelivery: {
    send: ({ alert, delivery }) => ({ path: { alert_id: alert, delivery_id: delivery } }),
  },
  replayDeadAlertDeliveries: ofAlert(),
  listRunShareLinks: ofRun(),
  createRunShareLink: { ...ofRun({}), key: 'person' },
  revokeRunShareLink: { send: ({ run, shareLink }) => ({ path: { run_id: run, share_link_id: shareLink } }) },
  getSharedRun: ofGuessedShareLink,
  streamSharedRun: ofGuessedShareLink,
  previewSchedule: withBody({ cron: '0 9 * * *' }),
  listContexts: nothing,
  createContext: withBody({ name: 'of-a-stranger' }),
  getContext: ofContext(),
  updateContext: ofContext({ body: { description: 'taken over' } }),
  deleteContext: ofContext(),
  setContextVisibility: ofContext({ body: { visibility: 'private' } }),
  listContextFiles: ofContext(),
  writeContextFiles: ofContext({ body: { files: [{ path: 'a.txt', content: 'x' }] } }),
  getContextFile: ofContext({ path: 'docs/notes.txt' }),
  putContextFile: ofContext({ path: 'docs/notes.txt', body: { content: 'x' } }),
  deleteContextFile: ofContext({ path: 'docs/notes.txt' }),
  uploadContextFiles: ofContext({ form: strangersFile }),
  downloadContext: ofContext(),
  listContextVersions: ofContext(),
  rollBackContext: ofContext({ sha }),
  getUsage: nothing,
  listSecrets: nothing,
  listDeclaredSecrets: nothing,
  createSecret: withBody({ name: 'SET_BY_A_STRANGER', value: 'x', hosts: ['api.example.com'] }),
  setSecret: secretOfCaller({ value: 'x', hosts: [] }),
  postSecret: secretOfCaller({ value: 'x' }),
  deleteSecret: { send: ({ secret }) => ({ path: { name: secret } }) },
  testSecret: { send: () => ({ path: { name: 'SET_BY_A_STRANGER' } }) },
  rotateSecretKeys: nothing,
  listConnections: nothing,
  createConnection: withBody({ app: 'of-a-stranger', value: 'x' }),
  createMcpConnection: withBody({ label: 'Of a stranger', url: 'https://of-a-stranger.example/mcp' }),
  getConnection: ofConnection(),
  updateConnection: ofConnection({ label: 'taken over' }),
  deleteConnection: ofConnection(),
  getConnectionStatus: ofConnection(),
  testConnection: ofConnection(),
  listConnectionTools: ofConnection(),
  authorizeConnection: ofConnection({}),
  finishConnection: nothing,
  finishConnectionOfIssuer: ofIssuer,
  getOauthClientOfIssuer: ofIssuer,
  listIntegrations: nothing,
  listIntegrationTools: { send: ({ integration }) => ({ path: { slug: integration } }) },
  setIntegrationApp: { send: () => ({ path: { slug: 'github' }, body: { client_id: 'of-a-stranger' } }) },
  deleteIntegrationApp: { send: ({ integration }) => ({ path: { slug: integration } }) },
  revokeWorkspaceToken: { send: ({ workspaceToken }) => ({ path: { token_id: workspaceToken } }) },
};

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
    fixtures,
    real,
    unknown: { ...unknownLike(real), secret: 'NOT_A_SECRET', tool: 'no_such_tool' },
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

proveIsolation(openapiFiles.worker, start);
