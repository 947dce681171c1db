/** Fakes alerts of the worker surface and their deliveries, which a test triggers. */
import type { WorkerSchemas } from '@gantry/sdk';
import type { FakeAnswer, FakeRequest } from './fake-accounts';

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
  refuseNext: FakeAnswer | null;
  sendsEmail: boolean;
}

const AT = Date.now();
const before = (minutes: number) => new Date(AT - minutes * 60_000).toISOString();

let count = 0;

export const newAlert = (over: Partial<Alert> = {}): Alert => ({
  ...{ id: `alrt_${++count}`, worker_id: null, automation_id: null, on: ['run.failed'], email_to: null },
  ...{ url: 'https://hooks.example.com/gantry/on-call', description: '', enabled: true, disabled_reason: null },
  ...{ created_by: 'usr_ada', created_at: before(90 * 24 * 60), updated_at: before(90 * 24 * 60) },
  ...over,
});

export const newDelivery = (alertId: string, over: Partial<Delivery> = {}): Delivery => ({
  ...{ id: `dlv_${++count}`, alert_id: alertId, channel: 'webhook', type: 'run.failed', status: 'delivered' },
  attempts: [{ at: before(5), status: 200, error: null, duration_ms: 84, response: 'ok' }],
  payload: {
    ...{ type: 'run.failed', timestamp: before(5) },
    data: { alert_id: alertId, worker_id: 'price-watch', automation_id: null, run_id: 'run_8sWn', status: 'failed' },
  },
  ...{ next_attempt_at: null, created_at: before(5), ended_at: before(5) },
  ...over,
});

export const newAlerts = (): FakeAlerts => ({
  ...{ list: [], deliveries: [], workers: [], automations: [], sent: [], refuseNext: null, sendsEmail: true },
});

/** Returns undefined for requests of another resource. */
export async function answerAlert(fake: FakeAlerts, req: FakeRequest): Promise<FakeAnswer | undefined> {
  const { line, part, query, surface, signedIn } = req;
  if (line === 'GET /api/system/info') {
    return { status: 200, body: { name: 'Gantry', version: '0.1.0', features: { email: fake.sendsEmail } } };
  }
  const named = nameFound(fake, req);
  if (named) return named;
  if (part[2] !== 'alerts' || surface !== 'worker') return undefined;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  const [verb] = line.split(' ');
  if (verb === 'GET' && !part[3]) {
    const workerId = query.get('worker_id');
    return { status: 200, body: fake.list.filter((one) => !workerId || one.worker_id === workerId) };
  }
  const alert = fake.list.find(({ id }) => id === part[3]);
  if (verb !== 'GET') fake.sent.push({ line, body: await req.body() });
  if (fake.refuseNext && verb !== 'GET') {
    const refusal = fake.refuseNext;
    fake.refuseNext = null;
    return refusal;
  }
  if (line === 'POST /api/alerts') {
    const made = newAlert(fake.sent.at(-1)?.body);
    fake.list.unshift(made);
    return { status: 201, body: { ...made, secret: 'whsec_c2lnbmluZy1zZWNyZXQ=' } };
  }
  if (!alert) return { status: 404, body: { detail: 'no such alert' } };
  if (part[4] === 'test') return { status: 200, body: TESTED };
  if (part[4] === 'deliveries') return answerDelivery(fake, req);
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

const TESTED = {
  ...{ ok: false, status: 500, error: 'HTTP 500', duration_ms: 84 },
  channels: [
    { channel: 'webhook', ok: false, status: 500, error: 'HTTP 500', duration_ms: 84, response: 'no such channel' },
    { channel: 'email', ok: true, status: null, error: null, duration_ms: 412, response: null },
  ],
};

function answerDelivery(fake: FakeAlerts, { part, query }: FakeRequest): FakeAnswer {
  const status = query.get('status');
  const own = fake.deliveries.filter((one) => one.alert_id === part[3]);
  if (!part[5]) return { status: 200, body: own.filter((one) => !status || one.status === status) };
  const again =
    part[5] === 'replay-dead' ? own.filter((one) => one.status === 'dead') : own.filter(({ id }) => id === part[5]);
  for (const one of again) Object.assign(one, { status: 'pending', ended_at: null, next_attempt_at: before(-1) });
  return part[5] === 'replay-dead'
    ? { status: 202, body: { replayed: again.length, has_more: false } }
    : { status: 202, body: again[0] ?? {} };
}

function nameFound(fake: FakeAlerts, { line, query, part }: FakeRequest): FakeAnswer | undefined {
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
