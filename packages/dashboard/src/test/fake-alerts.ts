/** Fakes alerts of the worker surface and their deliveries, which a test triggers. */
import type { WorkerSchemas } from '@gantry/sdk';
import { type FakeRequest, type FakeResponse, takeRefusal } from './fake-accounts';

type Alert = WorkerSchemas['Alert'];
type Delivery = WorkerSchemas['AlertDelivery'];

export interface FakeAlerts {
  list: Alert[];
  deliveries: Delivery[];
  /** Workers and automations that can be found. */
  workers: { id: string; name: string }[];
  automations: { id: string; name: string }[];
  /** Changes as they were sent. */
  sent: { line: string; body: object }[];
  refuseNext: FakeResponse | null;
  sendsEmail: boolean;
}

const AT = Date.now();
const minutesAgo = (minutes: number) => new Date(AT - minutes * 60_000).toISOString();

let count = 0;

export const buildAlert = (over: Partial<Alert> = {}): Alert => ({
  id: `alrt_${++count}`,
  worker_id: null,
  automation_id: null,
  on: ['run.failed'],
  email_to: null,
  url: 'https://hooks.example.com/gantry/on-call',
  description: '',
  enabled: true,
  disabled_reason: null,
  created_by: 'usr_ada',
  created_at: minutesAgo(90 * 24 * 60),
  updated_at: minutesAgo(90 * 24 * 60),
  ...over,
});

export const buildDelivery = (alertId: string, over: Partial<Delivery> = {}): Delivery => ({
  id: `dlv_${++count}`,
  alert_id: alertId,
  channel: 'webhook',
  type: 'run.failed',
  status: 'delivered',
  attempts: [{ at: minutesAgo(5), status: 200, error: null, duration_ms: 84, response: 'ok' }],
  payload: {
    type: 'run.failed',
    timestamp: minutesAgo(5),
    data: { alert_id: alertId, worker_id: 'price-watch', automation_id: null, run_id: 'run_8sWn', status: 'failed' },
  },
  next_attempt_at: null,
  created_at: minutesAgo(5),
  ended_at: minutesAgo(5),
  ...over,
});

export const createAlertState = (): FakeAlerts => ({
  list: [],
  deliveries: [],
  workers: [],
  automations: [],
  sent: [],
  refuseNext: null,
  sendsEmail: true,
});

/** Returns undefined for requests of another resource. */
export async function handleAlertRequest(fake: FakeAlerts, req: FakeRequest): Promise<FakeResponse | undefined> {
  const { line, part, query, surface, signedIn } = req;
  if (line === 'GET /api/system/info') {
    return { status: 200, body: { name: 'Gantry', version: '0.1.0', features: { email: fake.sendsEmail } } };
  }
  const nameResponse = handleNameSearch(fake, req);
  if (nameResponse) return nameResponse;
  if (part[2] !== 'alerts' || surface !== 'worker') return undefined;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  const [verb] = line.split(' ');
  if (verb === 'GET' && !part[3]) {
    const workerId = query.get('worker_id');
    return { status: 200, body: fake.list.filter((one) => !workerId || one.worker_id === workerId) };
  }
  const alert = fake.list.find(({ id }) => id === part[3]);
  if (verb !== 'GET') fake.sent.push({ line, body: await req.body() });
  const refusal = verb === 'GET' ? undefined : takeRefusal(fake);
  if (refusal) return refusal;
  if (line === 'POST /api/alerts') {
    const created = buildAlert(fake.sent.at(-1)?.body);
    fake.list.unshift(created);
    return { status: 201, body: { ...created, ...(created.url && { secret: 'whsec_c2lnbmluZy1zZWNyZXQ=' }) } };
  }
  if (!alert) return { status: 404, body: { detail: 'no such alert' } };
  if (part[4] === 'test') return { status: 200, body: TEST_OUTCOME };
  if (part[4] === 'deliveries') return handleDeliveryRequest(fake, req);
  if (verb === 'PATCH') {
    const { secret_rotate, ...change } = (fake.sent.at(-1)?.body ?? {}) as { secret_rotate?: boolean };
    Object.assign(alert, change, { updated_at: new Date().toISOString() });
    return { status: 200, body: { ...alert, ...(secret_rotate && { secret: 'whsec_YW5vdGhlci1vbmU=' }) } };
  }
  if (verb === 'DELETE') {
    fake.list = fake.list.filter((one) => one !== alert);
    return { status: 204 };
  }
  return { status: 200, body: alert };
}

const TEST_OUTCOME = {
  ok: false,
  status: 500,
  error: 'HTTP 500',
  duration_ms: 84,
  channels: [
    { channel: 'webhook', ok: false, status: 500, error: 'HTTP 500', duration_ms: 84, response: 'no such channel' },
    { channel: 'email', ok: true, status: null, error: null, duration_ms: 412, response: null },
  ],
};

function handleDeliveryRequest(fake: FakeAlerts, { part, query }: FakeRequest): FakeResponse {
  const status = query.get('status');
  const own = fake.deliveries.filter((one) => one.alert_id === part[3]);
  if (!part[5]) return { status: 200, body: own.filter((one) => !status || one.status === status) };
  const replayed =
    part[5] === 'replay-dead' ? own.filter((one) => one.status === 'dead') : own.filter(({ id }) => id === part[5]);
  for (const one of replayed)
    Object.assign(one, { status: 'pending', ended_at: null, next_attempt_at: minutesAgo(-1) });
  return part[5] === 'replay-dead'
    ? { status: 202, body: { replayed: replayed.length, has_more: false } }
    : { status: 202, body: replayed[0] ?? {} };
}

function handleNameSearch(fake: FakeAlerts, { line, query, part }: FakeRequest): FakeResponse | undefined {
  const q = query.get('q')?.toLowerCase() ?? '';
  const matching = (all: { id: string; name: string }[]) =>
    all.filter(({ name }) => name.toLowerCase().includes(q)).slice(0, Number(query.get('limit')));
  if (line === 'GET /api/workers' && fake.workers.length) return { status: 200, body: matching(fake.workers) };
  if (line === 'GET /api/automations' && fake.automations.length) {
    return { status: 200, body: { automations: matching(fake.automations) } };
  }
  const one = [...fake.workers, ...fake.automations].find(({ id }) => id === part[3] && part.length === 4);
  return one && line.startsWith('GET /api/') ? { status: 200, body: one } : undefined;
}
