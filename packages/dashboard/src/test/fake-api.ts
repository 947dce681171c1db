/**
 * Fakes the APIs of the page in memory, typed by the OpenAPI file. Runs do nothing on their own: a test drives them, so
 * that it can check intermediate states.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AutomationSchemas } from '@gantry/sdk';
import { createAccountState, type FakeAccounts, type FakeRequest, handleAccountRequest } from './fake-accounts';
import { createAlertState, type FakeAlerts, handleAlertRequest } from './fake-alerts';
import { createApprovalState, type FakeApprovals, handleApprovalRequest } from './fake-approvals';
import { buildNextFires, changeAutomation, type FakeSchedule, listAutomations, toAutomation } from './fake-automations';
import { createCandidateState, type FakeCandidates, handleCandidateRequest } from './fake-candidates';
import { createChangeStream, type FakeChanges, streamChanges } from './fake-changes';
import { createChatState, type FakeChat, handleChatRequest, streamChat } from './fake-chat';
import { createCodeState, type FakeCode, handleCodeRequest } from './fake-code';
import { createConnectionState, type FakeConnections, handleConnectionRequest } from './fake-connections';
import { type FakeContexts, handleContextRequest } from './fake-contexts';
import { createConversationState, type FakeConversations, handleConversationRequest } from './fake-conversations';
import { createEvaluationState, type FakeEvaluations, handleEvaluationRequest } from './fake-evaluations';
import { buildOverview, handleOverviewRequest } from './fake-overview';
import { createPackageState, type FakePackages, handlePackageRequest } from './fake-packages';
import { handleRunListRequest } from './fake-runs';
import { createSecretState, type FakeSecrets, handleSecretRequest } from './fake-secrets';
import { createShareState, type FakeShares, handleShareRequest } from './fake-shares';
import { createSkillState, type FakeSkills, handleSkillRequest } from './fake-skills';
import { emitEvent, type FakeStream, streamEvents } from './fake-stream';
import { createUsageState, type FakeUsage, handleUsageRequest } from './fake-usage';
import { type FakeWorkerRun, handleWorkerRunRequest } from './fake-worker-runs';
import { createWorkerState, type FakeWorkers, handleWorkerRequest } from './fake-workers';
import { PERSON } from './person';
import { serveFiles } from './serve-files';

type Run = AutomationSchemas['Run'];

export interface FakeRun extends Run, FakeStream {}

/** The data that requests read and change. */
interface FakeState {
  accounts: FakeAccounts;
  approvals: FakeApprovals;
  candidates: FakeCandidates;
  chat: FakeChat;
  code: FakeCode;
  contexts: FakeContexts;
  conversations: FakeConversations;
  evaluations: FakeEvaluations;
  secrets: FakeSecrets;
  connections: FakeConnections;
  alerts: FakeAlerts;
  usage: FakeUsage;
  skills: FakeSkills;
  changes: FakeChanges;
  /** Requests, such as `GET /api/approvals`, that fail with this status, or get no response while they are stalled. */
  faults: Map<string, number | 'stalled'>;
  packages: FakePackages;
  overview: ReturnType<typeof buildOverview>;
  workers: FakeWorkers;
  pages: Map<string, AutomationSchemas['Page']>;
  /** Workspaces by automation; the other automations are in every workspace. */
  homes: Map<string, string>;
  /** By automation; the others have none. */
  schedules: Map<string, FakeSchedule>;
  versions: AutomationSchemas['Version'][];
  runs: FakeRun[];
  workerRuns: FakeWorkerRun[];
  shares: FakeShares;
  /** Bodies of bulk operations, as `POST /path` and what was sent. */
  bulk: { line: string; ids: string[] }[];
  artifacts: Map<string, { contentType: string; body: Buffer }>;
  uploads: Buffer[];
  /** Number of the good cookie of each session; a session whose old cookie was used again is gone. */
  sessions: Map<string, number>;
  /** The delay of a response with a new cookie, during which the browser still has the old one. */
  refreshMs: number;
  /** The error response to the next run request. */
  refuseNext: { status: number; body: object } | null;
  /** Requests, as `METHOD /path`. */
  requests: { line: string; lastEventId: string | undefined }[];
}

export interface FakeApi extends FakeState {
  origin: string;
  /** Deletes all added data and recorded requests. */
  reset: () => void;
  emit: (run: FakeStream, event: string, data: object) => void;
  finish: (run: FakeRun, outcome: Pick<Run, 'status'> & Partial<Run>) => void;
  /** Signs a person in. @returns name and value of the session's cookie */
  beginSession: () => { name: string; value: string };
  /** Breaks every open event stream, as a restarting server does. */
  dropStreams: () => void;
  /** Ends every connection. */
  disconnect: () => void;
  stop: () => void;
}

export async function startFakeApi(dist: string): Promise<FakeApi> {
  const server = createServer((req, res) => {
    handleRequest(api, dist, req, res).catch((error: unknown) =>
      sendJson(res, 500, { error: String(error), code: 'fake' }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const api: FakeApi = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...createState(),
    reset: () => void Object.assign(api, createState()),
    emit: emitEvent,
    finish(run, outcome) {
      const completedAt = Date.now();
      Object.assign(run, { completedAt, durationMs: completedAt - (run.startedAt ?? completedAt), ...outcome });
      api.emit(run, 'done', { status: outcome.status });
      for (const watcher of run.watchers) watcher.end();
    },
    beginSession() {
      const family = `f${++count}`;
      api.sessions.set(family, 1);
      return { name: COOKIE, value: `${family}.1` };
    },
    dropStreams() {
      for (const run of api.runs) for (const watcher of run.watchers) watcher.destroy();
    },
    disconnect: () => server.closeAllConnections(),
    stop: () => server.close(),
  };
  return api;
}

const createState = (): FakeState => ({
  accounts: createAccountState(),
  approvals: createApprovalState(),
  candidates: createCandidateState(),
  chat: createChatState(),
  code: createCodeState(),
  contexts: [],
  conversations: createConversationState(),
  evaluations: createEvaluationState(),
  secrets: createSecretState(),
  connections: createConnectionState(),
  alerts: createAlertState(),
  usage: createUsageState(),
  skills: createSkillState(),
  changes: createChangeStream(),
  faults: new Map(),
  packages: createPackageState(),
  overview: buildOverview(),
  workers: createWorkerState(),
  pages: new Map(),
  homes: new Map(),
  schedules: new Map(),
  versions: [],
  runs: [],
  workerRuns: [],
  shares: createShareState(),
  bulk: [],
  artifacts: new Map(),
  uploads: [],
  sessions: new Map(),
  refreshMs: 0,
  refuseNext: null,
  requests: [],
});

function sendJson(res: ServerResponse, status: number, body?: object, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  res.end(body && JSON.stringify(body));
}

async function readBody(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks);
}

let count = 0;

const COOKIE = 'svc_cloud_session';

/** Distinguishes paths that both surfaces have, such as `/api/secrets`; stripped before a request is handled. */
const WORKER_SURFACE = '/~worker';

async function handleRequest(api: FakeApi, dist: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const url = new URL(req.url ?? '/', api.origin);
  const isWorkerSurface = url.pathname.startsWith(`${WORKER_SURFACE}/`);
  if (isWorkerSurface) url.pathname = url.pathname.slice(WORKER_SURFACE.length);
  const line = `${req.method} ${url.pathname}`;
  const part = url.pathname.split('/').map(decodeURIComponent);
  api.requests.push({ line, lastEventId: req.headers['last-event-id']?.toString() });
  // Paths of pages and operations can be equal.
  const isPage = req.headers['sec-fetch-dest'] === 'document' && part[1] !== 'api' && part[1] !== 'auth';
  if (isPage) return serveFiles(dist, url.pathname, res);
  const signedIn = req.headers.authorization === 'Bearer jwt';
  const [, family = '', cookieNumber] = /svc_cloud_session=(\w+)\.(\d+)/.exec(req.headers.cookie ?? '') ?? [];
  const hasCookie = api.sessions.has(family);

  if (line === 'POST /auth/login') {
    const { email, password } = JSON.parse((await readBody(req)).toString());
    if (email !== PERSON.email || password !== PERSON.password) return sendJson(res, 401, { detail: 'wrong' });
    return sendSession(res, api.beginSession().value);
  }
  if (line === 'POST /auth/refresh') {
    if (hasCookie && api.sessions.get(family) === Number(cookieNumber)) {
      api.sessions.set(family, Number(cookieNumber) + 1);
      await new Promise((resolve) => setTimeout(resolve, api.refreshMs));
      return sendSession(res, `${family}.${Number(cookieNumber) + 1}`);
    }
    api.sessions.delete(family);
    return sendJson(res, 401, { detail: 'no session' });
  }
  if (line === 'POST /auth/logout') {
    api.sessions.delete(family);
    return sendJson(res, 204);
  }
  if (line === 'GET /api/events') return streamChanges(api.changes, req, res);
  if (line === 'GET /config.json')
    return sendJson(res, 200, { base_url: api.origin + WORKER_SURFACE, skills_url: api.origin });
  const fault = api.faults.get(line);
  if (typeof fault === 'number') return sendJson(res, fault, { detail: 'The service is not available.' });
  while (api.faults.get(line) === 'stalled') await new Promise((resolve) => setTimeout(resolve, 50));
  const request: FakeRequest = {
    line,
    part,
    query: url.searchParams,
    signedIn,
    workspaceId: req.headers['x-svc-workspace']?.toString(),
    surface: isWorkerSurface ? 'worker' : 'automation',
    body: async () => JSON.parse((await readBody(req)).toString() || '{}'),
  };
  const chat = await handleChatRequest(api.chat, request, req.headers['last-event-id']?.toString());
  if (chat && 'follow' in chat) return streamChat(chat, req, res);
  if (chat) return sendJson(res, chat.status, chat.body);
  const response =
    (await handleSkillRequest(api.skills, request)) ??
    (await handleAccountRequest(api.accounts, request)) ??
    (await handleApprovalRequest(api.approvals, request)) ??
    (await handleCandidateRequest(api.candidates, request)) ??
    (await handleEvaluationRequest(api.evaluations, request)) ??
    (await handleCodeRequest(api.code, api.workerRuns, api.accounts.me.role, request)) ??
    (await handleConversationRequest(api.conversations, api.workerRuns, request)) ??
    (await handleContextRequest(api.contexts, api.accounts.me.role, request)) ??
    (await handleSecretRequest(api.secrets, request)) ??
    (await handleConnectionRequest(api.connections, api.accounts.me.role, request, api.origin)) ??
    (await handleAlertRequest(api.alerts, request)) ??
    handleUsageRequest(api.usage, request) ??
    handleOverviewRequest(api.overview, request) ??
    (await handleWorkerRequest(api.workers, api.accounts, request));
  if (response) return sendJson(res, response.status, response.body, response.headers);
  const runs = isWorkerSurface ? await handleRunListRequest(api, request) : undefined;
  if (runs) return sendJson(res, runs.status, runs.body, runs.headers);
  const shared = await handleShareRequest(api.shares, api.workerRuns, api.origin, request);
  if (shared && 'follow' in shared) return streamEvents(shared.follow, shared.isOver, req, res);
  if (shared) return sendJson(res, shared.status, shared.body);
  const worker = await handleWorkerRunRequest(api.workerRuns, api.accounts, api.candidates.repairs, request);
  if (worker && 'follow' in worker) return streamEvents(worker.follow, worker.isOver, req, res);
  if (worker) return sendJson(res, worker.status, worker.body);
  const packageResponse = await handlePackageRequest(api, request);
  if (packageResponse) return sendJson(res, packageResponse.status, packageResponse.body);
  if (part[1] === 'zips') {
    const zip = api.packages.artifacts[Number(part[2]?.slice(4)) - 1]?.zip;
    res.writeHead(zip ? 200 : 404, { 'Content-Type': 'application/zip' });
    return void res.end(zip);
  }
  if (part[1] === 'uploads') {
    api.uploads.push(await readBody(req));
    return sendJson(res, 200);
  }
  if (part[1] !== 'api') return serveFiles(dist, url.pathname, res);

  const download = /\/artifacts\/([^/]+)\/download$/.exec(url.pathname)?.[1];
  const artifact = download && (signedIn || hasCookie) && api.artifacts.get(download);
  if (artifact) {
    res.writeHead(200, { 'Content-Type': artifact.contentType, 'Content-Disposition': 'attachment' });
    return void res.end(artifact.body);
  }

  if (part[2] === 'pages') {
    const page = api.pages.get(part[3] ?? '');
    const isElsewhere = api.homes.has(part[3] ?? '') && api.homes.get(part[3] ?? '') !== request.workspaceId;
    if (!page || isElsewhere || (page.visibility !== 'public' && !signedIn))
      return sendJson(res, signedIn ? 404 : 401, { error: 'no such automation', code: 'not_found' });
    if (!part[4]) return sendJson(res, 200, { ...page, access: signedIn ? 'member' : 'link' });
    if (req.method === 'POST' && !part[5]) return startRun(api, page, req, res, signedIn);
    return handleRunRequest(api, part[5], part[6], req, res);
  }
  if (!signedIn) return sendJson(res, 401, { error: 'sign in', code: 'unauthorized' });
  if (part[2] === 'runs')
    return part[3] ? handleRunRequest(api, part[3], part[4], req, res) : sendRunList(api, url, res);
  if (line === 'POST /api/artifacts/upload-url') {
    const uploadUrl = `${api.origin}/uploads/${api.uploads.length}`;
    return sendJson(res, 200, {
      uploadUrl,
      storageKey: `ws_1/uploads/${api.uploads.length}`,
      maxBytes: 1e7,
      expiresAt: 0,
    });
  }
  if (line === 'POST /api/schedules/preview') return sendJson(res, 200, buildNextFires());
  if (line === 'GET /api/automations') return sendJson(res, 200, { automations: listAutomations(api, url) });
  const page = api.pages.get(part[3] ?? '');
  if (page && part[2] === 'automations' && !part[4]) {
    if (req.method === 'PATCH') changeAutomation(api, page, JSON.parse((await readBody(req)).toString()));
    return sendJson(res, 200, toAutomation(api, page));
  }
  if (page && part[4] === 'versions') return sendJson(res, 200, { versions: api.versions });
  if (page && part[4] === 'run') return startRun(api, page, req, res, signedIn);
  if (page && part[4] === 'rollback') {
    page.currentVersion = JSON.parse((await readBody(req)).toString()).version;
    for (const version of api.versions) version.current = version.version === page.currentVersion;
    return sendJson(res, 200, { ...page, automationId: page.id, warnings: [] });
  }
  sendJson(res, 404, { error: `the fake has no ${line}`, code: 'not_found' });
}

function sendSession(res: ServerResponse, session: string): void {
  sendJson(
    res,
    200,
    { access_token: 'jwt', token_type: 'Bearer', expires_in: 3_600 },
    { 'Set-Cookie': `${COOKIE}=${session}; HttpOnly; SameSite=Lax; Path=/` },
  );
}

async function startRun(
  api: FakeApi,
  page: AutomationSchemas['Page'],
  req: IncomingMessage,
  res: ServerResponse,
  signedIn: boolean,
): Promise<void> {
  const { inputs } = JSON.parse((await readBody(req)).toString());
  if (api.refuseNext) {
    const { status, body } = api.refuseNext;
    api.refuseNext = null;
    return sendJson(res, status, body);
  }
  const run = buildRun({
    automationId: page.id,
    version: page.currentVersion,
    inputs,
    trigger: signedIn ? 'page' : 'link',
  });
  api.runs.unshift(run);
  sendJson(res, 200, { runId: run.runId, status: run.status });
}

export function buildRun(fields: Partial<Run>): FakeRun {
  const now = Date.now();
  return {
    runId: `run_${++count}`,
    automationId: '',
    version: 1,
    status: 'running',
    trigger: 'page',
    inputs: {},
    artifacts: [],
    costUsd: 0,
    createdAt: now,
    startedAt: now,
    completedAt: null,
    durationMs: null,
    ...fields,
    events: [],
    watchers: new Set(),
  };
}

function sendRunList(api: FakeApi, { searchParams: query }: URL, res: ServerResponse): void {
  const matchesQuery = (name: string, value: string) => !query.has(name) || query.get(name) === value;
  const all = api.runs
    .filter((run) => matchesQuery('automationId', run.automationId) && matchesQuery('status', run.status))
    .filter((run) => matchesQuery('trigger', run.trigger) && run.createdAt >= Number(query.get('since')))
    .filter((run) => run.automationId.includes(query.get('q') ?? ''))
    .sort((one, other) => other.createdAt - one.createdAt);
  const from = query.has('before') ? all.findIndex(({ runId }) => runId === query.get('before')) + 1 : 0;
  const limit = Number(query.get('limit') ?? 50);
  const page = all.slice(from, from + limit);
  const withOutputs = query.get('outputs') === 'true';
  const runs = page.map(({ events, watchers, result, ...run }) => ({
    ...run,
    ...(withOutputs && { outputs: result?.outputs }),
  }));
  sendJson(res, 200, { runs, nextBefore: from + limit < all.length ? page.at(-1)?.runId : null });
}

async function handleRunRequest(
  api: FakeApi,
  runId: string | undefined,
  verb: string | undefined,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const run = api.runs.find((candidate) => candidate.runId === runId);
  if (!run) return sendJson(res, 404, { error: 'no such run', code: 'not_found' });
  if (verb === 'cancel') {
    api.finish(run, { status: 'error', error: { code: 'cancelled', message: 'cancelled' } });
  }
  if (verb !== 'events') {
    const { events, watchers, ...body } = run;
    return sendJson(res, 200, body);
  }
  streamEvents(run, run.completedAt !== null, req, res);
}
