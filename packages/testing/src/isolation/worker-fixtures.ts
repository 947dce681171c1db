/** Requests of a stranger for each operation of the worker surface; trials are in `trial-fixtures.ts`. */
import { createOpaqueToken } from '@gantry/auth';
import type { Fixture } from './matrix';
import { trialFixtures } from './trial-fixtures';

const emptyFixture: Fixture = { send: () => ({}) };
const workspaceFixture: Fixture = { send: ({ workspace }) => ({ path: { workspace_id: workspace } }) };
const memberFixture: Fixture = {
  send: ({ workspace, member }) => ({ path: { workspace_id: workspace, user_id: member } }),
};
const invitationFixture: Fixture = {
  send: ({ workspace, invitation }) => ({ path: { workspace_id: workspace, invitation_id: invitation } }),
};
/** A sha that no version has: whether the worker is there is asked first. */
const sha = 'a'.repeat(64);
const createWorkerFixture = (more: { sha?: string; body?: object } = {}): Fixture => ({
  send: ({ worker }) => ({
    path: { worker_id: worker, ...(more.sha && { sha: more.sha }) },
    ...(more.body && { body: more.body }),
  }),
});
const createExampleFixture = (body?: object): Fixture => ({
  send: ({ worker, example }) => ({ path: { worker_id: worker, example_id: example }, ...(body && { body }) }),
});
const evaluationFixture: Fixture = {
  send: ({ worker, evaluation }) => ({ path: { worker_id: worker, evaluation_id: evaluation } }),
};
const createAlertFixture = (body?: object): Fixture => ({
  send: ({ alert }) => ({ path: { alert_id: alert }, ...(body && { body }) }),
});
const createRunFixture = (body?: object): Fixture => ({
  send: ({ run }) => ({ path: { run_id: run }, ...(body && { body }) }),
});
const guessedShareLinkFixture: Fixture = {
  send: () => ({ path: { token: createOpaqueToken('shr_') } }),
  opens: ({ shareToken }) => ({ path: { token: shareToken } }),
};
const createApprovalFixture = (body?: object): Fixture => ({
  send: ({ approval }) => ({ path: { approval_id: approval }, ...(body && { body }) }),
});
const createGuessedLinkFixture = (body?: object): Fixture => ({
  send: () => ({ path: { token: `rvw_${'a'.repeat(21)}.${'b'.repeat(43)}` }, ...(body && { body }) }),
  opens: ({ reviewToken }) => ({ path: { token: reviewToken }, ...(body && { body }) }),
});
/** Ids are looked at one by one and skipped; a worker that is not there refuses the whole. */
const workerRunsFixture: Fixture = { send: ({ worker }) => ({ body: { filter: { worker_id: worker } } }) };
const createContextFixture = (
  more: { path?: string; sha?: string; body?: object; form?: () => FormData } = {},
): Fixture => ({
  send: ({ context }) => ({
    path: { name: context, ...(more.path && { path: more.path }), ...(more.sha && { sha: more.sha }) },
    ...(more.body && { body: more.body }),
    ...(more.form && { form: more.form }),
  }),
});
const issuerFixture: Fixture = { send: () => ({ path: { issuer_digest: 'a'.repeat(43) } }) };
const createConnectionFixture = (body?: object): Fixture => ({
  send: ({ connection }) => ({ path: { connection_id: connection }, ...(body && { body }) }),
});
const createModelKeyFixture = (body: object): Fixture => ({
  send: ({ connection }) => ({ body: { ...body, connection_id: connection } }),
});
const createModelProviderFixture = (body?: object): Fixture => ({
  send: ({ modelProvider }) => ({ path: { provider_name: modelProvider }, ...(body && { body }) }),
});
const createConversationFixture = (body?: object): Fixture => ({
  send: ({ conversation }) => ({ path: { conversation_id: conversation }, ...(body && { body }) }),
});
const createWorkerConversationFixture = (body?: object): Fixture => ({
  send: ({ worker, workerConversation }) => ({
    path: { worker_id: worker, conversation_id: workerConversation },
    ...(body && { body }),
  }),
});
/** A caller who may set secrets sets one of their own workspace by it: nothing of another's is named. */
const createCallerSecretFixture = (body: object): Fixture => ({
  send: () => ({ path: { name: 'SET_BY_A_STRANGER' }, body }),
});
const buildFileForm = () => {
  const form = new FormData();
  form.append('file', new Blob(['of a stranger']), 'a.txt');
  return form;
};
const createBodyFixture = (body: object): Fixture => ({ send: () => ({ body }) });
const password = 'correct horse battery staple';
const userCode = createBodyFixture({ user_code: 'BCDF-2345' });
const strangerEmail = 'stranger@example.com';
const authorization = {
  response_type: 'code',
  client_id: 'ocl_guess',
  redirect_uri: 'http://127.0.0.1/callback',
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
};

export const workerFixtures: Record<string, Fixture> = {
  ...trialFixtures,
  live: emptyFixture,
  ready: emptyFixture,
  healthDetails: emptyFixture,
  systemOverview: emptyFixture,
  streamChanges: emptyFixture,
  systemInfo: emptyFixture,
  listModels: { send: () => ({}), tells: ['modelProvider'] },
  getModelUsage: emptyFixture,
  listModelProviders: emptyFixture,
  createModelProvider: createModelKeyFixture({ name: 'of-a-stranger', kind: 'openai', models: ['m'] }),
  getModelProvider: createModelProviderFixture(),
  updateModelProvider: createModelProviderFixture({ models: ['taken-over'] }),
  deleteModelProvider: createModelProviderFixture(),
  setModelPrices: { send: ({ modelProvider }) => ({ body: { prices: { [`${modelProvider}/m`]: null } } }) },
  chat: { send: ({ conversation }) => ({ body: { message: 'of a stranger', conversation_id: conversation } }) },
  suggestMessages: emptyFixture,
  listConversations: emptyFixture,
  getConversation: createConversationFixture(),
  renameConversation: createConversationFixture({ title: 'Taken over' }),
  deleteConversation: createConversationFixture(),
  streamConversation: createConversationFixture(),
  stopConversation: createConversationFixture(),
  resumeConversation: createConversationFixture(),
  decideConversationCall: {
    send: ({ conversation, call }) => ({
      path: { conversation_id: conversation, call_id: call },
      body: { approve: true },
    }),
  },
  listMcpTools: emptyFixture,
  publishMcpTool: { send: ({ worker }) => ({ body: { worker_id: worker, name: 'of_a_stranger' } }) },
  unpublishMcpTool: { send: ({ tool }) => ({ path: { name: tool } }) },
  mcp: createBodyFixture({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  platformConfig: emptyFixture,
  jwks: emptyFixture,
  setUp: createBodyFixture({ setup_token: 'a guess', email: strangerEmail, password }),
  signIn: createBodyFixture({ email: 'owner@example.com', password: 'a guess at it' }),
  refreshSession: emptyFixture,
  signOut: emptyFixture,
  signOutEverywhere: createBodyFixture({ tokens: true }),
  listSessions: emptyFixture,
  endSession: { send: ({ session }) => ({ path: { session_id: session } }) },
  changePassword: {
    ...createBodyFixture({ current_password: 'a guess at it', new_password: password }),
    key: 'person',
  },
  requestEmailVerification: { ...emptyFixture, key: 'person' },
  verifyEmail: { ...createBodyFixture({ token: 'vfy_guess' }), key: 'person' },
  requestPasswordReset: createBodyFixture({ email: strangerEmail }),
  resetPassword: createBodyFixture({ token: 'rst_guess', new_password: password }),
  lookUpInvitation: createBodyFixture({ token: 'inv_guess' }),
  acceptInvitation: createBodyFixture({ token: 'inv_guess' }),
  registerByInvitation: createBodyFixture({ token: 'inv_guess', password }),
  startOidc: emptyFixture,
  finishOidc: emptyFixture,
  me: emptyFixture,
  listPersonalTokens: emptyFixture,
  createPersonalToken: { ...createBodyFixture({ name: 'of a stranger' }), key: 'inherits' },
  revokePersonalToken: { send: ({ personalToken }) => ({ path: { token_id: personalToken } }) },
  startDevice: { ...createBodyFixture({ client_name: 'of a stranger' }), makes: true },
  exchangeDevice: createBodyFixture({ device_code: 'a guess', user_code: 'BCDF-2345' }),
  pollDevice: { send: () => ({ path: { device_code: 'a-guess' } }) },
  lookUpDevice: userCode,
  approveDevice: { ...userCode, key: 'person' },
  denyDevice: userCode,
  oauthServerMetadata: emptyFixture,
  oauthServerMetadataOfMcp: emptyFixture,
  getOauthClient: emptyFixture,
  oauthResourceMetadata: emptyFixture,
  oauthResourceMetadataOfMcp: emptyFixture,
  registerOauthClient: { ...createBodyFixture({ redirect_uris: ['http://127.0.0.1/callback'] }), makes: true },
  issueOauthToken: {
    send: () => ({
      form: () =>
        new URLSearchParams({ grant_type: 'refresh_token', client_id: 'ocl_guess', refresh_token: 'a guess' }),
    }),
  },
  revokeOauthToken: { send: () => ({ form: () => new URLSearchParams({ token: 'a guess', client_id: 'ocl_guess' }) }) },
  lookUpAuthorization: createBodyFixture(authorization),
  decideAuthorization: {
    ...createBodyFixture({ request: authorization, decision: 'allow', toolsets: ['workers'] }),
    key: 'person',
  },
  listOauthGrants: emptyFixture,
  revokeOauthGrant: { send: ({ oauthGrant }) => ({ path: { grant_id: oauthGrant } }) },
  listWorkspaces: emptyFixture,
  createWorkspace: createBodyFixture({ name: 'Of a stranger' }),
  getWorkspace: workspaceFixture,
  updateWorkspace: { send: ({ workspace }) => ({ path: { workspace_id: workspace }, body: { name: 'Taken over' } }) },
  deleteWorkspace: workspaceFixture,
  restoreWorkspace: { send: ({ deletedWorkspace }) => ({ path: { workspace_id: deletedWorkspace } }) },
  selectWorkspace: workspaceFixture,
  leaveWorkspace: workspaceFixture,
  transferWorkspace: {
    send: ({ workspace, member }) => ({ path: { workspace_id: workspace }, body: { user_id: member } }),
  },
  listMembers: workspaceFixture,
  removeMember: memberFixture,
  changeMemberRole: {
    send: ({ workspace, member }) => ({ path: { workspace_id: workspace, user_id: member }, body: { role: 'admin' } }),
  },
  createPasswordResetLink: { ...memberFixture, key: 'person' },
  // Without email, as here: the link would be shown.
  inviteMember: {
    key: 'person',
    send: ({ workspace }) => ({ path: { workspace_id: workspace }, body: { email: strangerEmail, role: 'member' } }),
  },
  listInvitations: workspaceFixture,
  withdrawInvitation: invitationFixture,
  resendInvitation: { ...invitationFixture, key: 'person' },
  listAuditLog: emptyFixture,
  exportAuditLog: emptyFixture,
  listWorkspaceTokens: emptyFixture,
  createWorkspaceToken: { ...createBodyFixture({ name: 'of a stranger' }), key: 'inherits' },
  listWorkers: emptyFixture,
  createWorker: createBodyFixture({ name: 'Of a stranger', files: [{ path: 'main.py', content: 'def run(): pass' }] }),
  inspectDraft: { send: ({ worker }) => ({ body: { worker_id: worker, draft: {} } }) },
  testWorker: createWorkerFixture({ body: { draft: {} } }),
  listWorkerTags: emptyFixture,
  getWorker: createWorkerFixture(),
  updateWorker: createWorkerFixture({ body: { name: 'Taken over' } }),
  putWorker: createWorkerFixture({ body: { name: 'Taken over' } }),
  deleteWorker: createWorkerFixture(),
  listWorkerFiles: createWorkerFixture(),
  writeWorkerFiles: createWorkerFixture({ body: { files: [{ path: 'main.py', content: 'def run(): pass' }] } }),
  pauseWorker: createWorkerFixture(),
  resumeWorker: createWorkerFixture(),
  archiveWorker: createWorkerFixture(),
  restoreWorker: createWorkerFixture(),
  setWorkerVisibility: createWorkerFixture({ body: { visibility: 'private' } }),
  listWorkerVersions: createWorkerFixture(),
  getWorkerVersion: createWorkerFixture({ sha }),
  approveVersion: createWorkerFixture({ sha }),
  rollBackWorker: createWorkerFixture({ sha }),
  getWorkerSchema: createWorkerFixture(),
  getSampleInput: createWorkerFixture(),
  getWorkerBundle: createWorkerFixture(),
  listExamples: createWorkerFixture(),
  createExample: createWorkerFixture({ body: { name: 'Of a stranger', checks: [{ kind: 'fails' }] } }),
  getExample: createExampleFixture(),
  updateExample: createExampleFixture({ name: 'Taken over' }),
  deleteExample: createExampleFixture(),
  listWorkerConversations: createWorkerFixture(),
  createWorkerConversation: createWorkerFixture({ body: { inputs: {} } }),
  getWorkerConversation: createWorkerConversationFixture(),
  deleteWorkerConversation: createWorkerConversationFixture(),
  sendWorkerMessage: createWorkerConversationFixture({ message: 'of a stranger' }),
  listEvaluations: createWorkerFixture(),
  startEvaluation: createWorkerFixture({ body: {} }),
  getEvaluationTable: createWorkerFixture(),
  getEvaluation: evaluationFixture,
  stopEvaluation: evaluationFixture,
  receiveWebhook: {
    send: ({ worker }) => ({ path: { worker_id: worker }, query: 'token=a-guess', body: {} }),
    opens: ({ worker, webhookSecret }) => ({ path: { worker_id: worker }, query: `token=${webhookSecret}`, body: {} }),
  },
  listWorkerRuns: createWorkerFixture(),
  startRun: createWorkerFixture({ body: { inputs: {} } }),
  listRuns: { send: ({ worker }) => ({ query: `worker_id=${worker}` }) },
  exportRuns: { send: ({ worker }) => ({ query: `worker_id=${worker}` }) },
  cancelRuns: workerRunsFixture,
  replayRuns: workerRunsFixture,
  getRun: createRunFixture(),
  cancelRun: createRunFixture(),
  replayRun: createRunFixture({ version: 'same' }),
  listRunLogs: createRunFixture(),
  listRunRequests: createRunFixture(),
  listRecordedSteps: createRunFixture(),
  streamRunLogs: createRunFixture(),
  streamRun: createRunFixture(),
  streamRunEvents: createRunFixture(),
  downloadRun: createRunFixture(),
  downloadRunArtifact: { send: ({ run, artifact }) => ({ path: { run_id: run, artifact_id: artifact } }) },
  getWorkerStats: createWorkerFixture(),
  getWorkerTimeseries: createWorkerFixture(),
  listWorkerLogs: createWorkerFixture(),
  listWorkerAlerts: createWorkerFixture(),
  listApprovals: { send: ({ run }) => ({ query: `run_id=${run}` }) },
  countApprovals: emptyFixture,
  getApproval: createApprovalFixture(),
  approve: createApprovalFixture({ data: {} }),
  reject: createApprovalFixture({ reason: 'of a stranger' }),
  renewReviewLink: createApprovalFixture(),
  approveRun: createRunFixture({}),
  rejectRun: createRunFixture({}),
  getReview: createGuessedLinkFixture(),
  approveByLink: createGuessedLinkFixture({ name: 'a stranger' }),
  rejectByLink: createGuessedLinkFixture({ name: 'a stranger' }),
  createWorkerAlert: createWorkerFixture({ body: { on: ['run.failed'], url: 'https://of-a-stranger.example' } }),
  listAlerts: { send: ({ worker }) => ({ query: `worker_id=${worker}` }) },
  createAlert: {
    send: ({ worker }) => ({ body: { worker_id: worker, on: ['run.failed'], url: 'https://of-a-stranger.example' } }),
  },
  getAlert: createAlertFixture(),
  updateAlert: createAlertFixture({ secret_rotate: true }),
  deleteAlert: createAlertFixture(),
  testAlert: createAlertFixture(),
  listAlertDeliveries: createAlertFixture(),
  replayAlertDelivery: {
    send: ({ alert, delivery }) => ({ path: { alert_id: alert, delivery_id: delivery } }),
  },
  replayDeadAlertDeliveries: createAlertFixture(),
  listRunShareLinks: createRunFixture(),
  createRunShareLink: { ...createRunFixture({}), key: 'person' },
  revokeRunShareLink: { send: ({ run, shareLink }) => ({ path: { run_id: run, share_link_id: shareLink } }) },
  getSharedRun: guessedShareLinkFixture,
  streamSharedRun: guessedShareLinkFixture,
  previewSchedule: createBodyFixture({ cron: '0 9 * * *' }),
  listContexts: emptyFixture,
  createContext: createBodyFixture({ name: 'of-a-stranger' }),
  getContext: createContextFixture(),
  updateContext: createContextFixture({ body: { description: 'taken over' } }),
  deleteContext: createContextFixture(),
  setContextVisibility: createContextFixture({ body: { visibility: 'private' } }),
  listContextFiles: createContextFixture(),
  writeContextFiles: createContextFixture({ body: { files: [{ path: 'a.txt', content: 'x' }] } }),
  getContextFile: createContextFixture({ path: 'docs/notes.txt' }),
  putContextFile: createContextFixture({ path: 'docs/notes.txt', body: { content: 'x' } }),
  deleteContextFile: createContextFixture({ path: 'docs/notes.txt' }),
  uploadContextFiles: createContextFixture({ form: buildFileForm }),
  downloadContext: createContextFixture(),
  listContextVersions: createContextFixture(),
  rollBackContext: createContextFixture({ sha }),
  getUsage: emptyFixture,
  listSecrets: emptyFixture,
  listDeclaredSecrets: emptyFixture,
  createSecret: createBodyFixture({ name: 'SET_BY_A_STRANGER', value: 'x', hosts: ['api.example.com'] }),
  setSecret: createCallerSecretFixture({ value: 'x', hosts: [] }),
  postSecret: createCallerSecretFixture({ value: 'x' }),
  deleteSecret: { send: ({ secret }) => ({ path: { name: secret } }) },
  testSecret: { send: () => ({ path: { name: 'SET_BY_A_STRANGER' } }) },
  rotateSecretKeys: emptyFixture,
  listConnections: emptyFixture,
  createConnection: createBodyFixture({ app: 'of-a-stranger', value: 'x' }),
  createMcpConnection: createBodyFixture({ label: 'Of a stranger', url: 'https://of-a-stranger.example/mcp' }),
  getConnection: createConnectionFixture(),
  updateConnection: createConnectionFixture({ label: 'taken over' }),
  deleteConnection: createConnectionFixture(),
  getConnectionStatus: createConnectionFixture(),
  testConnection: createConnectionFixture(),
  listConnectionTools: createConnectionFixture(),
  authorizeConnection: createConnectionFixture({}),
  finishConnection: emptyFixture,
  finishConnectionOfIssuer: issuerFixture,
  getOauthClientOfIssuer: issuerFixture,
  listIntegrations: emptyFixture,
  listIntegrationTools: { send: ({ integration }) => ({ path: { slug: integration } }) },
  setIntegrationApp: { send: () => ({ path: { slug: 'github' }, body: { client_id: 'of-a-stranger' } }) },
  deleteIntegrationApp: { send: ({ integration }) => ({ path: { slug: integration } }) },
  revokeWorkspaceToken: { send: ({ workspaceToken }) => ({ path: { token_id: workspaceToken } }) },
};
