/**
 * Promises that only real processes can break: built services, PostgreSQL, NATS and sandboxes, killed in the middle.
 */
import { Pool } from 'pg';
import { type ApiCall, type ApiResponse, createApiClient, deployAutomation } from './api-client';
import { type Stack, startStack } from './stack';
import { waitUntil } from './wait-until';

const NAP = `
import time

def run(n, seconds=0.05):
    print("working on", n)
    time.sleep(seconds)
    return {"n": n}
`;
const inputs = [
  { name: 'n', type: 'integer', required: true },
  { name: 'seconds', type: 'number' },
];

let stack: Stack;
let calls: ApiCall[];
let pool: Pool;
let automationId: string;

beforeAll(async () => {
  stack = await startStack({ automationApis: 2, executors: 2 });
  calls = stack.automationUrls.map((url) => createApiClient(url, stack.token));
  pool = new Pool({ connectionString: stack.databaseUrls.automation });
  pool.on('error', () => {});
  const nap = { name: 'Nap', inputs, outputs: ['n'], timeout_seconds: 60 };
  ({ id: automationId } = await deployAutomation(calls[0] as ApiCall, { 'main.py': NAP }, nap));
});

afterAll(async () => {
  await pool?.end();
  await stack?.stop();
});

/** Asks the replicas in a random order until one answers, as a gateway would. */
async function anyReplica(...request: Parameters<ApiCall>): Promise<ApiResponse> {
  const order = Math.random() < 0.5 ? calls : [...calls].reverse();
  for (const call of order) {
    const answer = await call(...request);
    if (answer.status !== 0) return answer;
  }
  return { status: 0, body: null };
}

const start = (n: number, seconds?: number) =>
  anyReplica('POST', `/api/automations/${automationId}/run`, {
    inputs: { n, ...(seconds !== undefined && { seconds }) },
    wait: 0,
  });

const terminal = new Set(['success', 'error', 'timeout']);

async function waitUntilEnded(runId: string) {
  return waitUntil(
    async () => {
      const { status, body } = await anyReplica('GET', `/api/runs/${runId}`);
      return status === 200 && terminal.has(body.status) && body;
    },
    { everyMs: 250, what: `run ${runId} ends` },
  );
}

test('runs spread over both executors, and either replica responds for each', async () => {
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, n) =>
      (calls[n % 2] as ApiCall)('POST', `/api/automations/${automationId}/run`, {
        inputs: { n, seconds: 0.2 },
        wait: 10,
      }),
    ),
  );
  expect(answers.map(({ body }) => body.result?.outputs)).toEqual(Array.from({ length: 24 }, (_, n) => ({ n })));
  const { rows } = await pool.query('SELECT DISTINCT executor_id FROM runs');
  expect(rows).toHaveLength(2);
});

test('200 accepted runs each end once, although executor, automation-api and NATS are killed meanwhile', async () => {
  const accepted: { runId: string; n: number }[] = [];
  const { executors, automationApis, nats } = stack.parts;
  const before = (await pool.query('SELECT count(*)::int AS n FROM runs')).rows[0].n;

  async function submitUntil(count: number) {
    while (accepted.length < count) {
      const n = accepted.length;
      const { status, body } = await start(n);
      if (status === 200 || status === 202) accepted.push({ runId: body.runId, n });
      else await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  await submitUntil(50);
  await executors[0]?.kill();
  await submitUntil(90);
  await automationApis[0]?.kill();
  await submitUntil(130);
  await nats.kill();
  await Promise.all([nats.restart(), executors[0]?.start(), automationApis[0]?.start()]);
  await submitUntil(200);

  const results = await Promise.all(accepted.map(async ({ runId, n }) => ({ n, ...(await waitUntilEnded(runId)) })));
  for (const { n, status, result, error } of results) {
    if (status === 'success') expect(result.outputs).toEqual({ n });
    else expect(error.code).toBe('executor_lost');
  }
  // At most what the killed executor had in its four slots.
  expect(results.filter(({ status }) => status !== 'success').length).toBeLessThanOrEqual(4);

  const { rows } = await pool.query(
    `SELECT r.id, count(*) FILTER (WHERE e.type = 'done')::int AS done, count(*) FILTER (WHERE e.type = 'output')::int AS outputs
     FROM runs r LEFT JOIN run_events e ON e.run_id = r.id GROUP BY r.id HAVING count(*) FILTER (WHERE e.type = 'done') <> 1
     OR count(*) FILTER (WHERE e.type = 'output') > 1`,
  );
  expect(rows).toEqual([]);
  // A request that was cut off may have been accepted: it ran as well, and nothing else did.
  const after = (await pool.query('SELECT count(*)::int AS n FROM runs')).rows[0].n;
  expect(after - before).toBeLessThan(210);
  await waitUntil(async () => (await pool.query('SELECT 1 FROM outbox')).rowCount === 0);
});

test('20 clients that retry with their keys have one run for each key, although replicas are killed and PostgreSQL is frozen', async () => {
  const { automationApis, postgres } = stack.parts;
  const nap = { name: 'Keyed nap', inputs, outputs: ['n'], timeout_seconds: 60 };
  const { id } = await deployAutomation(calls[0] as ApiCall, { 'main.py': NAP }, nap);
  const keys = Array.from({ length: 120 }, (_, n) => n);
  const left = [...keys];
  const runIds = new Map<number, Set<string>>(keys.map((n) => [n, new Set()]));

  /** Impatient: hangs up, and sends it again to whichever replica. */
  async function send(n: number): Promise<number> {
    const url = stack.automationUrls[Math.floor(Math.random() * 2)];
    const patienceMs = 500 + Math.floor(Math.random() * 4_000);
    try {
      const answer = await fetch(`${url}/api/automations/${id}/run`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${stack.token}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': `storm-${n}`,
        },
        body: JSON.stringify({ inputs: { n, seconds: 0.2 }, wait: 10 }),
        signal: AbortSignal.timeout(patienceMs),
      });
      const body = (await answer.json()) as { runId?: string };
      if (body.runId) runIds.get(n)?.add(body.runId);
      return answer.status;
    } catch {
      return 0;
    }
  }

  const sendAgain = (n: number) =>
    waitUntil(async () => (await send(n)) === 200, { deadlineMs: 120_000, everyMs: 50, what: `key ${n} is answered` });

  async function client() {
    for (let n = left.shift(); n !== undefined; n = left.shift()) {
      await sendAgain(n);
      // The answer may have come, and been lost behind us.
      if (n % 3 === 0) await sendAgain(n);
    }
  }

  const waitUntilLeft = (count: number) =>
    waitUntil(() => left.length <= count, { deadlineMs: 120_000, what: `${count} left` });
  const pause = async (ms: number) => {
    postgres.pause();
    await new Promise((resolve) => setTimeout(resolve, ms));
    postgres.resume();
  };

  async function storm() {
    await waitUntilLeft(95);
    await pause(3_000);
    await waitUntilLeft(80);
    await automationApis[0]?.kill();
    await waitUntilLeft(70);
    await automationApis[0]?.start();
    await waitUntilLeft(55);
    // Longer than the leases of keys.
    await pause(12_000);
    await waitUntilLeft(35);
    await Promise.all([automationApis[1]?.kill(), pause(2_000)]);
    await automationApis[1]?.start();
  }

  await Promise.all([storm(), ...Array.from({ length: 20 }, client)]);
  const { rows } = await pool.query('SELECT id FROM runs WHERE subject_id = $1', [id]);
  expect(rows.map((row) => row.id).sort()).toEqual([...runIds.values()].flatMap((ids) => [...ids]).sort());
  expect(rows).toHaveLength(keys.length);
  for (const ids of runIds.values()) expect(ids.size).toBe(1);
  for (const { id: runId } of rows) expect(await waitUntilEnded(runId)).toMatchObject({ status: 'success' });
});

test('while PostgreSQL is down requests get 503, and a running run still completes', async () => {
  const { body } = await start(1, 4);
  await waitUntil(async () => (await anyReplica('GET', `/api/runs/${body.runId}`)).body.status === 'running');
  await stack.parts.postgres.stop();
  const refused = await anyReplica('GET', '/api/automations');
  expect(refused.status).toBe(503);
  expect(refused.body.code).toBe('unavailable');
  expect((await anyReplica('GET', '/health')).status).toBe(503);
  await stack.parts.postgres.start();
  await waitUntil(async () => (await anyReplica('GET', '/api/automations')).status === 200);
  expect(await waitUntilEnded(body.runId)).toMatchObject({ status: 'success', result: { outputs: { n: 1 } } });
});

test('an executor that is asked to stop finishes its runs', async () => {
  const [one, two] = stack.parts.executors;
  const runs = await Promise.all(Array.from({ length: 6 }, (_, n) => start(n, 1)));
  await waitUntil(async () => (await pool.query("SELECT 1 FROM runs WHERE status = 'running'")).rowCount);
  await one?.stop();
  for (const { body } of runs) expect(await waitUntilEnded(body.runId)).toMatchObject({ status: 'success' });
  await one?.start();
  expect(two).toBeDefined();
});

test('a secret is nowhere in plain text: not in responses, events, rows or logs, however it is printed', async () => {
  const secret = 'Sw0rdf1sh/+ünïcode&"quoted" value';
  const leaky = `
import base64, logging, os, sys, urllib.parse

def run(context):
    s = os.environ["LEAKED"]
    print("whole", s)
    print("base64", base64.b64encode(s.encode()).decode(), base64.b64encode(b"x" + s.encode()).decode())
    print("url", urllib.parse.quote(s), urllib.parse.quote_plus(s))
    for piece in (s[:9], s[9:]):
        sys.stdout.write(piece)
        sys.stdout.flush()
    print()
    logging.warning("logged %s", s)
    context.log("via context " + s, field=s)
    context.progress(0.5, "half of " + s)
    if context.inputs["fail"]:
        raise ValueError("failed with " + s)
    return {"leak": s, "nested": [{"deep": s + "!"}]}
`;
  const manifest = {
    name: 'Leaky',
    inputs: [{ name: 'fail', type: 'boolean', required: true }],
    outputs: ['leak', 'nested'],
    secrets_needed: ['LEAKED'],
  };
  const call = calls[0] as ApiCall;
  expect((await call('POST', '/api/secrets', { name: 'LEAKED', value: secret })).status).toBeLessThan(300);
  const { id } = await deployAutomation(call, { 'main.py': leaky }, manifest);
  const seen: string[] = [];
  for (const fail of [false, true]) {
    const { body } = await call('POST', `/api/automations/${id}/run`, { inputs: { fail }, wait: 10 });
    const detail = await waitUntil(async () => {
      const response = await call('GET', `/api/runs/${body.runId}`);
      return !['pending', 'running'].includes(response.body.status) && response;
    });
    expect(detail.body.status).toBe(fail ? 'error' : 'success');
    const events = await call('GET', `/api/runs/${body.runId}/events?logs=true`);
    seen.push(JSON.stringify(body), JSON.stringify(detail.body), String(events.body));
  }
  seen.push(JSON.stringify((await call('GET', '/api/secrets')).body), stack.output());
  const tables = await pool.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  for (const { tablename } of tables.rows) {
    const { rows } = await pool.query(`SELECT t::text AS row FROM "${tablename}" t`);
    seen.push(rows.map(({ row }) => row).join('\n'));
  }
  const everything = seen.join('\n');
  const bytes = Buffer.from(secret);
  const forms = [
    secret,
    secret.slice(0, 9),
    encodeURIComponent(secret),
    bytes.toString('base64'),
    bytes.toString('hex'),
  ];
  const leaks = forms.map((form) => everything.indexOf(form)).filter((at) => at >= 0);
  expect(leaks.map((at) => everything.slice(Math.max(0, at - 80), at + 80))).toEqual([]);
  expect(everything).toContain('***');
});
