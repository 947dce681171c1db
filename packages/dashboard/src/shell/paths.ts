/**
 * Paths of the dashboard, and the few of the platform that the browser opens without the typed client. Routes
 * and links are both made from here.
 */
export const paths = {
  home: '/',
  create: '/new',
  workers: '/workers',
  newWorker: '/workers/new',
  automations: '/automations',
  newAutomation: '/automations/new',
  runs: '/runs',
  approvals: '/approvals',
  chat: '/chat',
  decidedApprovals: '/approvals/decided',
  skills: '/skills',
  newSkill: '/skills/new',
  workspaceSkills: '/skills/workspace',
  savedSkills: '/skills/saved',
  deletedSkills: '/skills/deleted',
  libraries: '/skills/libraries',
  contexts: '/contexts',
  connections: '/connections',
  newConnection: '/connections/new',
  secrets: '/secrets',
  alerts: '/alerts',
  newAlert: '/alerts/new',
  device: '/device',
  authorize: '/authorize',
  signIn: '/sign-in',
  invite: '/invite',
  forgotPassword: '/forgot-password',
  resetPassword: '/reset-password',
  /** Also hard-coded in the command that prints the link. */
  setup: '/setup',
  verifyEmail: '/verify-email',
  members: '/settings/members',
  tokens: '/settings/tokens',
  settings: '/settings',
  auditLog: '/settings/audit',
  formerAuditLog: '/settings/audit-log',
  models: '/settings/models',
  usage: '/settings/usage',
  workspace: '/settings/workspace',
  account: '/settings/account',
} as const;

/**
 * Addresses with a part that varies, as the router reads them. Links to reviews and to runs of workers are also built
 * by the service that sends them.
 */
export const patterns = {
  automation: '/a/:automationId',
  automationCode: '/a/:automationId/code',
  automationSettings: '/a/:automationId/settings',
  /** Below the list, where people expect an automation; redirects. */
  listedAutomation: '/automations/:automationId',
  skill: '/skills/:slug',
  skillEditor: '/skills/:slug/edit',
  skillVersion: '/skills/:slug/versions/:version',
  library: '/skills/libraries/:slug',
  worker: '/workers/:workerId',
  workerCode: '/workers/:workerId/code',
  workerTriggers: '/workers/:workerId/triggers',
  workerVersions: '/workers/:workerId/versions',
  workerEvaluations: '/workers/:workerId/evaluations',
  workerConversations: '/workers/:workerId/conversations',
  workerAlerts: '/workers/:workerId/alerts',
  workerSettings: '/workers/:workerId/settings',
  workerPublish: '/workers/:workerId/publish',
  /** Below a worker as well, each a page of its own. */
  conversationWithWorker: '/workers/:workerId/conversations/:conversationId',
  candidate: '/workers/:workerId/candidates/:candidateId',
  evaluation: '/workers/:workerId/evaluations/:evaluationId',
  context: '/contexts/:contextName',
  contextVersions: '/contexts/:contextName/versions',
  contextSettings: '/contexts/:contextName/settings',
  connection: '/connections/:connectionId',
  catalogService: '/connections/catalog/:slug',
  workerRun: '/runs/:runId',
  conversation: '/chat/:conversationId',
  alert: '/alerts/:alertId',
  review: '/review/:token',
  /** Also hard-coded in the service that creates the links. */
  sharedRun: '/shared/:token',
} as const;

/** Fills in the parts of a pattern that vary. */
const buildPath = (pattern: string, parts: Record<string, string | number>): string =>
  pattern.replace(/:(\w+)/g, (_part, name: string) => encodeURIComponent(parts[name] ?? ''));

export const automationPath = (automationId: string): string => buildPath(patterns.automation, { automationId });

export const automationCodePath = (automationId: string): string =>
  buildPath(patterns.automationCode, { automationId });

export const automationSettingsPath = (automationId: string): string =>
  buildPath(patterns.automationSettings, { automationId });

/** Returns the path of a new automation with the files of this worker. */
export const newAutomationPath = (workerId: string): string =>
  `${paths.newAutomation}?worker=${encodeURIComponent(workerId)}`;

/** Returns the path of the automation's page with one of its runs. */
export const runPath = (automationId: string, runId: string): string =>
  `${automationPath(automationId)}?run=${encodeURIComponent(runId)}`;

export const getRunIdParam = (search: URLSearchParams): string | null => search.get('run');

type WorkerPattern = Extract<keyof typeof patterns, `worker${string}`>;

/** Returns the path of the worker's page, or of another of its tabs. */
export const workerPath = (workerId: string, tab: Exclude<WorkerPattern, 'workerRun'> = 'worker'): string =>
  buildPath(patterns[tab], { workerId });

export const workerConversationPath = (workerId: string, conversationId: string): string =>
  buildPath(patterns.conversationWithWorker, { workerId, conversationId });

export const candidatePath = (workerId: string, candidateId: string): string =>
  buildPath(patterns.candidate, { workerId, candidateId });

/** Returns the path of an evaluation's results. @param exampleId the example to show first */
export const evaluationPath = (workerId: string, evaluationId: string, exampleId?: string): string => {
  const path = buildPath(patterns.evaluation, { workerId, evaluationId });
  return exampleId === undefined ? path : `${path}?example=${encodeURIComponent(exampleId)}`;
};

export const getExampleIdParam = (search: URLSearchParams): string | null => search.get('example');

/** Returns the file that an editor has open. */
export const getFileParam = (search: URLSearchParams): string | null => search.get('file');

export const setFileParam = (search: URLSearchParams, path: string): URLSearchParams => {
  const next = new URLSearchParams(search);
  next.set('file', path);
  return next;
};

/** Returns the numbers of the compared versions; `from` 0 is nothing. */
export const getComparedVersions = (search: URLSearchParams): { from: number | null; to: number | null } => ({
  from: getNumberParam(search, 'from'),
  to: getNumberParam(search, 'to'),
});

export const setComparedVersions = (search: URLSearchParams, from: number, to: number): URLSearchParams => {
  const next = new URLSearchParams(search);
  next.set('from', String(from));
  next.set('to', String(to));
  return next;
};

function getNumberParam(search: URLSearchParams, name: string): number | null {
  const text = search.get(name);
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
/** Returns the path of a new worker from this template. */
export const newWorkerPath = (templateId: string): string =>
  `${paths.newWorker}?template=${encodeURIComponent(templateId)}`;
/** Template id of a worker made from a skill, which is selected on the page. */
export const SKILL_TEMPLATE_ID = 'skill';
export const getTemplateIdParam = (search: URLSearchParams): string | null => search.get('template');

/** Returns the path of a new connection to this service of the catalogue. */
export const newConnectionPath = (app: string): string => `${paths.newConnection}?app=${encodeURIComponent(app)}`;
export const connectionPath = (connectionId: string): string => buildPath(patterns.connection, { connectionId });
/** Returns the path of a service of the catalogue. */
export const catalogServicePath = (slug: string): string => buildPath(patterns.catalogService, { slug });
export const getAppParam = (search: URLSearchParams): string | null => search.get('app');

type ContextPattern = Extract<keyof typeof patterns, `context${string}`>;

/** Returns the path of a context's files, or of another of its tabs. */
export const contextPath = (name: string, tab: ContextPattern = 'context'): string =>
  buildPath(patterns[tab], { contextName: name });

/** Filters a list of runs; each part is a query parameter. */
export interface RunsFilter {
  worker?: string;
  status?: string;
  trigger?: string;
  /** Days, as 2026-03-31; `to` is within. */
  from?: string;
  to?: string;
}

export const runsPath = (filter: RunsFilter): string => `${paths.runs}?${new URLSearchParams({ ...filter })}`;

export const workerRunPath = (runId: string): string => buildPath(patterns.workerRun, { runId });

/** Returns the query string that selects a line of the run's log. */
export const buildLineSearch = (search: URLSearchParams, lineId: string): string => {
  const next = new URLSearchParams(search);
  next.set('line', lineId);
  return `?${next}`;
};

export const getLineIdParam = (search: URLSearchParams): string | null => search.get('line');

export const conversationPath = (conversationId: string): string =>
  buildPath(patterns.conversation, { conversationId });

/** Returns the URL of a conversation's event stream. @param baseUrl of the worker surface */
export const conversationEventsUrl = (baseUrl: string, conversationId: string): string =>
  `${baseUrl}/api/conversations/${encodeURIComponent(conversationId)}/events`;

/** Returns the path of the approvals with this one open. */
export const approvalPath = (approvalId: string): string =>
  `${paths.approvals}?approval=${encodeURIComponent(approvalId)}`;

export const getApprovalIdParam = (search: URLSearchParams): string | null => search.get('approval');

/** Returns the path of the secrets with the form for this one. */
export const secretFormPath = (name: string): string => `${paths.secrets}?set=${encodeURIComponent(name)}`;

export const alertPath = (alertId: string): string => buildPath(patterns.alert, { alertId });

/** Returns the path of one worker's alerts. */
export const alertsPath = (workerId: string): string => `${paths.alerts}?worker=${encodeURIComponent(workerId)}`;

/** Returns the path of a new alert for this worker; for the whole workspace without one. */
export const newAlertPath = (workerId: string | null): string =>
  workerId === null ? paths.newAlert : `${paths.newAlert}?worker=${encodeURIComponent(workerId)}`;

export const getWorkerIdParam = (search: URLSearchParams): string | null => search.get('worker');
export const skillPath = (slug: string): string => buildPath(patterns.skill, { slug });
/** Returns the path of a search for skills. */
export const skillSearchPath = (query: string): string => `${paths.skills}?q=${encodeURIComponent(query)}`;

export const skillEditorPath = (slug: string): string => buildPath(patterns.skillEditor, { slug });
export const skillVersionPath = (slug: string, version: number): string =>
  buildPath(patterns.skillVersion, { slug, version });

export const libraryPath = (slug: string): string => buildPath(patterns.library, { slug });

/** Returns the path of the sign-in page, which leads back to the current page. */
export const signInPath = ({ pathname, search = '' }: { pathname: string; search?: string }): string =>
  pathname === paths.home ? paths.signIn : `${paths.signIn}?next=${encodeURIComponent(pathname + search)}`;

export const getNextParam = (search: URLSearchParams): string | null => search.get('next');

/** Returns the URL of the identity provider. With `prove`, a signed-in member verifies an email address. */
export const identityProviderUrl = (startUrl: string, returnTo: string, { prove = false } = {}): string =>
  `${startUrl}?${new URLSearchParams({ ...(prove && { prove: 'true' }), return_to: returnTo })}`;

/** The HTTP API reference, which this host serves beside the dashboard. */
export const DOCS_URL = '/docs';

/** Serves the URLs of the other surfaces. */
export const CONFIG_URL = '/config.json';

interface RunUrls {
  events: (runId: string) => string;
  artifact: (runId: string, artifactId: string) => string;
}

/**
 * Builds URLs of runs' event streams and files. A member reads them as runs of the workspace; a visitor only through
 * the page that started them.
 */
export const buildRunUrls = (automationId: string, access: 'member' | 'link'): RunUrls =>
  buildUrls(access === 'member' ? '/api/runs' : `/api/pages/${encodeURIComponent(automationId)}/runs`);

/** Returns the URL for agents' MCP clients. @param baseUrl of the worker surface */
export const mcpUrl = (baseUrl: string): string => `${baseUrl}/mcp`;

/** Returns the URL of a shared run's events. @param baseUrl of the worker surface */
export const sharedEventsUrl = (baseUrl: string, token: string): string =>
  `${baseUrl}/api/shared/${encodeURIComponent(token)}/events`;

/** Builds URLs of workers' runs. @param baseUrl of the worker surface */
export const buildWorkerRunUrls = (baseUrl: string): RunUrls => buildUrls(`${baseUrl}/api/runs`);

function buildUrls(runsUrl: string): RunUrls {
  const buildRunUrl = (runId: string) => `${runsUrl}/${encodeURIComponent(runId)}`;
  return {
    events: (runId) => `${buildRunUrl(runId)}/events?logs=true`,
    artifact: (runId, artifactId) => `${buildRunUrl(runId)}/artifacts/${encodeURIComponent(artifactId)}/download`,
  };
}
