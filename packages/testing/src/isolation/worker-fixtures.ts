/** Requests of a stranger for each operation of the worker surface; trials are in `trial-fixtures.ts`. */
import { createOpaqueToken } from '@gantry/auth';
import type { Fixture } from './matrix';
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

export const workerFixtures: Record<string, Fixture> = {
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
  // Without email, as here: the link would be shown.
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
