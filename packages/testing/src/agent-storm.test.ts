/**
 * Agents while the processes below them are killed.
 *
 * Each run takes six turns of a model and calls a tool that must not be called twice; executors and replicas of
 * worker-api are killed at times and in an order that the seed decides. `GANTRY_STORM_RUNS=200 npm test -- agent-storm`
 * is the whole storm.
 */
import { Pool } from 'pg';
import { type ApiCall, createApiClient } from './api-client';
import { startCountingMcpServer } from './counting-mcp-server';
import { readEvents } from './read-events';
import { type ReceivedRequest, type ScriptedResponse, startScriptedModel } from './scripted-model/scripted-model';
import { createSeededRandom } from './seeded-random';
import { setupResource } from './setup-resource';
import { startStack } from './stack';
import { waitUntil } from './wait-until';

const RUNS = Number(process.env.GANTRY_STORM_RUNS ?? 12);
const SEED = Number(process.env.GANTRY_STORM_SEED ?? 1);
const RUNS_PER_BLOW = 2;
const TURNS = 6;

const random = createSeededRandom(SEED);
const ledger = setupResource(
  () => startCountingMcpServer(() => 20 + random() * 400),
  (one) => one.stop(),
);
const model = setupResource(startScriptedModel, (one) => one.stop());
const stack = setupResource(
  () => {
    const prices = { m: { input_usd_per_mtok: 10, output_usd_per_mtok: 20 } };
    const provider = { name: 'local', kind: 'openai-compatible', base_url: model.baseUrl, models: ['m'], prices };
    return startStack({
      workerApis: 2,
      executors: 2,
      automationApis: 0,
      env: {
        MODEL_PROVIDERS: JSON.stringify([provider]),
        OUTBOUND_ALLOW_CIDRS: '127.0.0.1/32',
        COMPUTE_USD_PER_CPU_HOUR: '0',
        LOG_LEVEL: 'info',
      },
    });
  },
  (one) => one.stop(),
);
const pool = setupResource(
  () => new Pool({ connectionString: stack.databaseUrls.worker }).on('error', () => {}),
  (one) => one.end(),
);

const book = (step: number) => ({ name: 'ledger__book', input: { run: '$n', step }, id: `c${step}` });
/** The third turn asks for two at once. */
const SCRIPT: ScriptedResponse[] = [
  ...[[1], [2], [3, 4], [5], [6]].map((steps, turn) => ({
    text: `Turn ${turn}.`,
    calls: steps.map(book),
    slowMs: 40,
    usage: { input: 100 + turn, output: 10 },
  })),
  { text: 'Booked.', slowMs: 40, usage: { input: 200, output: 10 } },
];
const STEPS = [1, 2, 3, 4, 5, 6];

async function anyReplica(...request: Parameters<ApiCall>) {
  for (;;) {
    for (const url of stack.workerUrls) {
      const answer = await createApiClient(url, stack.token)(...request);
      if (answer.status !== 0 && answer.status !== 503) return answer;
    }
    await pause(100);
  }
}

beforeAll(createAgent);

async function createAgent(): Promise<void> {
  const connection = { label: 'Ledger', url: ledger.url, visibility: 'workspace' };
  const connected = await anyReplica('POST', '/api/connections/mcp', connection);
  const worker = await anyReplica('POST', '/api/workers', {
    id: 'bookkeeper',
    name: 'Bookkeeper',
    runner: 'agent',
    entrypoint: 'SKILL.md',
    files: [{ path: 'SKILL.md', content: 'Book all entries of `n`.' }],
    inputs: [{ name: 'n', type: 'integer' }],
    connections: ['ledger'],
    tools: ['ledger.*'],
    max_turns: 10,
    limits: { timeout_seconds: 600 },
    retry: { max_attempts: 20, backoff_seconds: 0, backoff: 'fixed' },
  });
  for (const { status, body } of [connected, worker]) if (status !== 201) throw new Error(JSON.stringify(body));
}

/** Not waiting for anything: the time between two blows. */
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** @returns the names of those that were killed */
async function storm(isOver: () => Promise<boolean>): Promise<string[]> {
  const { executors, workerApis } = stack.parts;
  const parts = [...executors, ...workerApis];
  const killed: string[] = [];
  while (killed.length < RUNS / RUNS_PER_BLOW && !(await isOver())) {
    const victim = parts[Math.floor(random() * parts.length)] as (typeof parts)[number];
    await pause(300 + random() * 2_000);
    await victim.kill();
    killed.push(victim.name);
    await pause(random() * 1_000);
    await victim.start();
  }
  return killed;
}

const countOpen = async () =>
  Number(
    (await pool.query("SELECT count(*) FROM runs WHERE status NOT IN ('completed', 'failed', 'timed_out')")).rows[0]
      .count,
  );

interface Ended {
  id: string;
  n: number;
  status: string;
  error: unknown;
  output: unknown;
  cost: number;
  dones: number;
  attempt: number;
  steps: { name: string; status: string; lostCalls: number; result: { 'gantry:failed'?: { code: string } } | string }[];
  calls: { outcome: string; usd: number | null; reserved: number }[];
}

const listEnded = async (): Promise<Ended[]> =>
  (
    await pool.query(`SELECT r.id, (r.inputs ->> 'n')::int AS n, r.status, r.error, r.output, r.cost_usd AS cost, r.attempt,
      (SELECT count(*)::int FROM run_events e WHERE e.run_id = r.id AND e.type = 'done') AS dones,
      (SELECT json_agg(json_build_object('name', s.name, 'status', s.status, 'lostCalls', s.lost_calls, 'result', s.result) ORDER BY s.ordinal)
         FROM run_steps s WHERE s.run_id = r.id) AS steps,
      (SELECT json_agg(json_build_object('outcome', c.outcome, 'usd', c.usd, 'reserved', c.reserved_usd))
         FROM model_calls c WHERE c.run_id = r.id) AS calls
    FROM runs r WHERE (r.inputs ->> 'n')::int < ${RUNS} ORDER BY n`)
  ).rows;

const parseRunNumber = ({ body }: ReceivedRequest): number =>
  Number(/"n": (\d+)/.exec(JSON.stringify(body.messages).replaceAll('\\', ''))?.[1]);

test(
  `each of ${RUNS} agents ends once, pays for each response once and has each effect once`,
  async () => {
    await model.answersTurns(...SCRIPT);
    for (let n = 0; n < RUNS; n++) {
      const { status, body } = await anyReplica('POST', '/api/workers/bookkeeper/runs', { inputs: { n } });
      if (status !== 201) throw new Error(JSON.stringify(body));
    }
    const killed = await storm(async () => (await countOpen()) === 0);
    await waitUntil(async () => (await countOpen()) === 0, {
      deadlineMs: 100_000 + RUNS * 5_000,
      everyMs: 500,
      what: 'all have ended',
    });

    const [ended, asked] = [await listEnded(), await model.asked()];
    expect(ended.map(({ n }) => n)).toEqual(Array.from({ length: RUNS }, (_, n) => n));
    const unknown: string[] = [];
    let lost = 0;
    for (const run of ended) {
      const { n, status, error, output, dones, cost, steps, calls } = run;
      if (status !== 'completed') process.stdout.write(`${JSON.stringify(run)}\n`);
      expect({ n, status, error, output, dones }).toEqual({
        n,
        status: 'completed',
        error: null,
        output: { text: 'Booked.' },
        dones: 1,
      });
      const answers = steps.filter(({ name }) => name === 'model.default');
      expect(answers.map((step) => step.status)).toEqual(Array(TURNS).fill('completed'));
      const paid = calls.filter(({ outcome }) => outcome === 'ok');
      expect({ n, paid: paid.length }).toEqual({ n, paid: TURNS });
      // The outcome of the others is unknown: their replica was killed. They count with the most that they can have
      // cost.
      const open = calls.filter(({ outcome }) => outcome === 'started' || outcome === 'lost');
      expect(paid.length + open.length).toBe(calls.length);
      lost += open.length;
      const answered = asked.filter((one) => parseRunNumber(one) === n && one.isAnswered).length;
      expect(answered).toBeGreaterThanOrEqual(paid.length);
      expect(answered).toBeLessThanOrEqual(calls.length);
      expect(cost).toBeCloseTo(
        paid.reduce((sum, { usd }) => sum + (usd ?? 0), 0),
        9,
      );

      const booking = steps.filter(({ name }) => name === 'ledger.book');
      expect(booking.map((step) => step.status)).toEqual(STEPS.map(() => 'completed'));
      for (const [at, step] of STEPS.entries()) {
        const result = booking[at]?.result;
        const times = ledger.booked.get(`${n}/${step}`) ?? 0;
        if (result === `booked ${n}/${step}`) expect({ n, step, times }).toEqual({ n, step, times: 1 });
        else {
          expect(result).toMatchObject({ 'gantry:failed': { code: 'outcome_unknown' } });
          expect(times).toBeLessThanOrEqual(1);
          unknown.push(`${n}/${step}`);
        }
      }
    }
    const attempts = ended.reduce((sum, { attempt }) => sum + attempt, 0);
    const figures = { killed: killed.length, attempts, asked: asked.length, lost, unknown: unknown.length };
    process.stdout.write(`storm of ${RUNS} agents: ${JSON.stringify(figures)}\n`);
  },
  200_000 + RUNS * 8_000,
);

test('a reader that reconnects to another replica gets the text of an agent live, once and complete', async () => {
  const text = 'These words come one after the other, and everybody reads all of them.';
  await model.answersTurns({ text, slowMs: 25 });
  const { body } = await anyReplica('POST', '/api/workers/bookkeeper/runs', { inputs: { n: RUNS } });
  const path = `/api/runs/${body.run_id}/stream`;
  const reading = { urls: stack.workerUrls, token: stack.token, path };
  const live = await readEvents({ ...reading, format: 'sse', breaks: [2, 2, 2] });
  const afterwards = await readEvents({ ...reading, format: 'ndjson', breaks: [] });
  expect(live.map(({ seq }) => seq)).toEqual(afterwards.map(({ seq }) => seq));
  const pieces = live.filter(({ type }) => type === 'text').map(({ data }) => data as { text: string; offset: number });
  expect(pieces.length).toBeGreaterThan(2);
  expect(pieces.map((one) => one.text).join('')).toBe(text);
  expect(pieces.map(({ offset }) => offset)).toEqual(
    pieces.map((_, at) => pieces.slice(0, at).reduce((sum, one) => sum + one.text.length, 0)),
  );
});
