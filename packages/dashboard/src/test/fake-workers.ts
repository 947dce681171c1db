/** Fakes workers in memory, with the changes that the pages make. */
import type { WorkerSchemas } from '@gantry/sdk';
import { type FakeAccounts, type FakeRequest, type FakeResponse, takeRefusal } from './fake-accounts';

type Schemas = WorkerSchemas;
type Worker = Schemas['Worker'];

export interface FakeWorkers {
  list: Worker[];
  /** Newest first. */
  runs: Schemas['RunItem'][];
  /** Bodies of the requested changes and runs. */
  sent: { line: string; body: unknown }[];
  /** Texts of files by path, for each worker that has other files than an entrypoint. */
  files: Map<string, Record<string, string>>;
  /** The error response to the next change. */
  refuseNext: FakeResponse | null;
}

export const createWorkerState = (): FakeWorkers => ({
  list: [],
  runs: [],
  sent: [],
  files: new Map(),
  refuseNext: null,
});

const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

export const ALL_PERMISSIONS = {
  edit: true,
  run: true,
  pause: true,
  archive: true,
  delete: true,
  change_visibility: true,
  approve_version: true,
};

export const buildDefinition = (): Schemas['WorkerDefinition'] => ({
  runner: 'python',
  entrypoint: 'main.py',
  inputs: [],
  outputs: [],
  secrets: [],
  connections: [],
  contexts: [],
  python_dependencies: [],
  dependencies_source: null,
  isolation: 'warm',
  network: 'public',
  expose: [],
  in_body: [],
  skill: null,
  skills: [],
  model: null,
  tools: [],
  max_turns: 20,
  budget_usd: null,
  output: null,
  on_failure: 'none',
  limits: {
    timeout_seconds: 300,
    memory_mb: 512,
    concurrency: null,
    concurrency_key: null,
    priority: 0,
    runs_per_minute: null,
    budget_usd_per_month: null,
  },
  retry: { max_attempts: 1, backoff_seconds: 10, backoff: 'exponential', max_backoff_seconds: 3_600 },
  approvals: { required: false, forbid_self: false, public_links: true, expires_in_seconds: 604_800 },
});

export const buildWorker = (id: string, over: Partial<Worker> = {}): Worker => ({
  id,
  name: id,
  description: '',
  status: 'active',
  health: 'healthy',
  trigger_type: 'manual',
  triggers: [{ type: 'manual' }],
  visibility: 'workspace',
  owner_id: 'usr_ada',
  version: 3,
  sha: '3f0c5b3e',
  version_approval: null,
  tags: [],
  missing_secrets: [],
  last_run: null,
  last_run_id: null,
  last_run_status: null,
  last_sandbox: null,
  next_run_at: null,
  evaluate_on_save: false,
  created_at: daysAgo(40),
  updated_at: daysAgo(2),
  permissions: ALL_PERMISSIONS,
  ...buildDefinition(),
  skill_update: null,
  skill_deleted: false,
  ...over,
});

const STATUSES = ['completed', 'completed', 'completed', 'failed', 'completed', 'timed_out', 'completed'] as const;

export const buildRunItem = (
  workerId: string,
  at: number,
  over: Partial<Schemas['RunItem']> = {},
): Schemas['RunItem'] => ({
  id: `run_${workerId}_${at}`,
  worker_id: workerId,
  workspace_id: 'ws_ops',
  worker_version: 3,
  status: STATUSES[at % STATUSES.length] ?? 'completed',
  trigger: at % 4 ? 'schedule' : 'api',
  priority: 0,
  attempt: 1,
  parent_run_id: null,
  created_by: at % 4 ? null : 'usr_bob',
  cancel_requested: false,
  waiting_for: null,
  error: STATUSES[at % STATUSES.length] === 'failed' ? 'ValueError: no row has a number' : null,
  error_code: STATUSES[at % STATUSES.length] === 'failed' ? 'exception' : null,
  total_cost_usd: 0.0004,
  created_at: daysAgo(at + 0.1),
  started_at: daysAgo(at + 0.1),
  completed_at: daysAgo(at),
  duration_ms: 900 + ((at * 7_919) % 4_100),
  input: { shop: 'north', limit: 20 + at },
  output: null,
  ...over,
});

/** Returns undefined for requests that another part of the fake handles. */
export async function handleWorkerRequest(
  fake: FakeWorkers,
  { me }: FakeAccounts,
  { line, part, query, signedIn, body }: FakeRequest,
): Promise<FakeResponse | undefined> {
  if (line === 'POST /api/schedules/preview') return previewSchedule(await body());
  if (part[2] === 'webhooks') return receiveWebhook(fake, part[3] ?? '', query, (await body()) as object);
  if (part[2] !== 'workers' || fake.list.length === 0) return undefined;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  if (line === 'GET /api/workers') return { status: 200, body: listWorkers(fake, query) };
  if (line === 'POST /api/workers') return createWorker(fake, (await body()) as object as Schemas['NewWorker'], line);
  const worker = fake.list.find(({ id }) => id === part[3]);
  if (!worker) return undefined;
  const visibleWorker = me.role === 'viewer' ? { ...worker, permissions: { ...NO_PERMISSIONS } } : worker;
  if (part[4] === undefined) return handleWorkerChange(fake, worker, visibleWorker, line, body);
  const detailResponse = handleDetailRequest(fake, worker, part, query);
  if (detailResponse) return detailResponse;
  if (line === `POST /api/workers/${worker.id}/runs`) {
    fake.sent.push({ line, body: await body() });
    return { status: 201, body: { status: 'running', run_id: 'run_started' } };
  }
  const status = STATUS_AFTER[part[4]];
  if (!status) return undefined;
  fake.sent.push({ line, body: null });
  const refusal = takeRefusal(fake);
  if (refusal) return refusal;
  worker.status = status;
  return { status: 200, body: worker };
}

const SECRET = { webhook_secret: 'whk_shown_once' };
export const NO_PERMISSIONS = {
  edit: false,
  run: false,
  pause: false,
  archive: false,
  delete: false,
  change_visibility: false,
  approve_version: false,
};
const STATUS_AFTER: Record<string, Worker['status']> = {
  pause: 'paused',
  resume: 'active',
  archive: 'archived',
  restore: 'active',
};

function listWorkers({ list, runs }: FakeWorkers, query: URLSearchParams): Schemas['WorkerItem'][] {
  const archived = query.get('status') === 'archived';
  const count = Number(query.get('recent_runs') ?? 0);
  const offset = Number(query.get('offset') ?? 0);
  return list
    .filter(({ status }) => (status === 'archived') === archived)
    .slice(offset, offset + Number(query.get('limit') ?? 100))
    .map((worker) => ({
      ...worker,
      recent_runs: runs.filter(({ worker_id }) => worker_id === worker.id).slice(0, count),
    }));
}

function createWorker(fake: FakeWorkers, { name = '', ...fields }: Schemas['NewWorker'], line: string): FakeResponse {
  fake.sent.push({ line, body: { name, ...fields } });
  const refusal = takeRefusal(fake);
  if (refusal) return refusal;
  const workerName = name || (fields.skill ?? '').split('@')[0] || '';
  const id = workerName.toLowerCase().replaceAll(' ', '-');
  const created = buildWorker(id, { name: workerName, health: 'ready', version: 1, ...(fields as Partial<Worker>) });
  created.triggers = toStoredTriggers(id, (fields.triggers ?? []) as Worker['triggers']);
  fake.list.unshift(created);
  const hasWebhook = created.triggers.some(({ type }) => type === 'webhook');
  return { status: 201, body: { ...created, ...(hasWebhook && SECRET), warnings: [] } };
}

async function handleWorkerChange(
  fake: FakeWorkers,
  worker: Worker,
  visibleWorker: Worker,
  line: string,
  body: FakeRequest['body'],
): Promise<FakeResponse> {
  if (line.startsWith('GET')) return { status: 200, body: visibleWorker };
  if (line.startsWith('DELETE')) {
    fake.list = fake.list.filter((one) => one !== worker);
    return { status: 204 };
  }
  const changes = (await body()) as object as Schemas['WorkerChange'];
  fake.sent.push({ line, body: changes });
  const refusal = takeRefusal(fake);
  if (refusal) return refusal;
  const { triggers, limits, retry, approvals, webhook_secret_rotate: rotate, ...rest } = changes;
  const hadWebhook = worker.triggers.some(({ type }) => type === 'webhook');
  if (rest.skill) worker.skill_update = null;
  if (rest.skills) rest.skills = rest.skills.map(describeSkill);
  Object.assign(worker, rest, { version: worker.version + 1, updated_at: new Date().toISOString() });
  Object.assign(worker.limits, limits);
  Object.assign(worker.retry, retry);
  Object.assign(worker.approvals, approvals);
  if (triggers) worker.triggers = toStoredTriggers(worker.id, triggers as Worker['triggers']);
  const hasWebhook = worker.triggers.some(({ type }) => type === 'webhook');
  const secret = rotate || (hasWebhook && !hadWebhook) ? SECRET : {};
  return { status: 200, body: { ...worker, ...secret, warnings: [] } };
}

/** Converts a skill to the representation of the service's responses. */
function describeSkill(skill: NonNullable<Schemas['WorkerChange']['skills']>[number]) {
  if (typeof skill !== 'string') return skill;
  const [slug = '', hash = '0'] = skill.split('@');
  const isPublished = skill.includes('@');
  const path = isPublished ? `skills/${slug}/SKILL.md` : skill;
  const name = slug.split('/').at(-2) ?? slug;
  return { path, name, description: '', hash, version: isPublished ? 1 : null, skill: isPublished ? skill : null };
}

function toStoredTriggers(id: string, triggers: Worker['triggers']): Worker['triggers'] {
  if (triggers.length === 0) return [{ type: 'manual' }];
  return triggers.map((trigger) =>
    trigger.type === 'cron'
      ? { ...trigger, next_run_at: daysAgo(-1), last_scheduled_at: null, missed_fires: 0 }
      : trigger.type === 'webhook'
        ? { ...trigger, webhook_url: `https://gantry.example.com/api/webhooks/${id}` }
        : trigger,
  );
}

const SKILL_TEXT = 'Read the tests first.';

function handleDetailRequest(
  fake: FakeWorkers,
  { id, version, entrypoint }: Worker,
  part: string[],
  query: URLSearchParams,
): FakeResponse | undefined {
  const runs = fake.runs.filter(({ worker_id }) => worker_id === id);
  if (part[4] === 'stats') return { status: 200, body: buildStats(id, runs) };
  if (part[4] === 'sample-input') return { status: 200, body: { inputs: { shop: 'south', limit: 7 } } };
  if (part[4] === 'files') {
    const texts = Object.entries(fake.files.get(id) ?? { [entrypoint]: SKILL_TEXT });
    return { status: 200, body: texts.map(([path, content]) => ({ path, content, size: content.length, sha: '0' })) };
  }
  if (part[4] === 'alerts') return { status: 200, body: [] };
  if (part[6] === 'approve') {
    fake.sent.push({ line: `POST ${part.join('/')}`, body: null });
    const by = { approved_by: 'usr_ada', approved_by_label: 'ada@example.com', approved_at: daysAgo(0) };
    fake.list = fake.list.map((one) =>
      one.id === id ? { ...one, version_approval: { status: 'approved', ...by } } : one,
    );
    return { status: 200, body: fake.list.find((one) => one.id === id) };
  }
  if (part[4] === 'versions') return { status: 200, body: [{ version, sha: 'sha' }] };
  if (part[5] === 'timeseries') return { status: 200, body: buildBuckets(runs, Number(query.get('days'))) };
  if (part[4] === 'runs' && query.has('limit')) {
    const trigger = query.get('trigger');
    return {
      status: 200,
      body: runs.filter((run) => !trigger || run.trigger === trigger).slice(0, Number(query.get('limit'))),
    };
  }
  return undefined;
}

function buildStats(id: string, runs: Schemas['RunItem'][]): Schemas['WorkerStats'] {
  const failed = runs.find(({ error }) => error !== null);
  return {
    worker_id: id,
    runs_total: runs.length,
    runs_7d: Math.min(7, runs.length),
    runs_30d: runs.length,
    success_rate_7d: 0.86,
    success_rate_30d: runs.length ? 0.7391 : null,
    avg_duration_ms: 1_310,
    p50_duration_ms: runs.length ? 1_246 : null,
    p95_duration_ms: runs.length ? 4_105 : null,
    total_cost_usd_30d: 0.0092,
    failures_by_code: {},
    last_error: failed?.error ?? null,
    last_error_at: failed?.completed_at ?? null,
  };
}

const buildBuckets = (runs: Schemas['RunItem'][], days: number): Schemas['RunBucket'][] =>
  Array.from({ length: days }, (_, at) => {
    const start = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - (days - 1 - at) * DAY_MS).toISOString();
    const runCount = runs.length > 0 ? (at * 5) % 9 : 0;
    const failed = runCount > 3 && at % 4 === 0 ? 2 : 0;
    return {
      start,
      total: runCount,
      completed: runCount - failed,
      failed,
      cost_usd: runCount * 0.0004,
      p50_duration_ms: runCount ? 1_000 + ((at * 331) % 700) : null,
      p95_duration_ms: runCount ? 2_100 + ((at * 977) % 2_600) : null,
    };
  });

function previewSchedule({ cron = '', timezone = 'UTC' }: Record<string, string>): FakeResponse {
  if (cron.split(' ').length < 5) {
    return { status: 400, body: { detail: `cron: needs five fields; this has ${cron.split(' ').length}` } };
  }
  if (timezone.length < 3) return { status: 400, body: { detail: 'timezone: is not an IANA time zone' } };
  return { status: 200, body: { fires: Array.from({ length: 10 }, (_, at) => daysAgo(-1 - at)) } };
}

function receiveWebhook(fake: FakeWorkers, workerId: string, query: URLSearchParams, body: object): FakeResponse {
  if (query.get('token') !== 'whk_shown_once') return { status: 401, body: { detail: 'the token is not right' } };
  fake.sent.push({ line: `POST /api/webhooks/${workerId}`, body });
  return { status: 200, body: { status: 'queued', run_id: 'run_hooked' } };
}
