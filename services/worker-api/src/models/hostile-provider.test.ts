/**
 * Hostile responses of a workspace's own provider: none stops the service, books money that was not spent, or leaves a
 * call open.
 */
import { measureLongestTurn, waitUntil } from '@gantry/testing';
import {
  call,
  delta,
  END,
  event,
  HOSTILE_ANSWERS,
  setupHostileProvider,
  UNSTORABLE_ANSWERS,
  usage,
} from '../test/hostile-provider';

const BLOCKED_MS_MAX = 50;

const { provider, api, me } = setupHostileProvider();

interface Turn {
  status: string;
  error: { code: string; detail: string } | null;
}

async function sendMessage(): Promise<Turn> {
  const { body } = await me.post('/api/chat', { message: 'Hello', model: 'acme/m', stream: false }).expect(200);
  if (body.status !== 'running') return body;
  // Beside other programs the turn may take longer than its request waits.
  return waitUntil(async () => {
    const [turn] = (await me.get(`/api/conversations/${body.conversation_id}`).expect(200)).body.turns;
    return turn.status !== 'running' && turn;
  });
}
async function lastCall() {
  const { rows } = await api.deps.pool.query(
    `SELECT outcome, estimated, usd, reserved_usd AS reserved, input_tokens AS input, output_tokens AS output
     FROM model_calls ORDER BY started_at DESC, id DESC LIMIT 1`,
  );
  return rows[0];
}

test.each(HOSTILE_ANSWERS)(
  'a response with %s is aborted, its call is settled, and others are served meanwhile',
  async (_, texts) => {
    provider.says(...texts, END);
    const blockedMs = await measureLongestTurn(async () => {
      expect(await sendMessage()).toMatchObject({ status: 'failed', error: { code: 'model_malformed' } });
    }, BLOCKED_MS_MAX);
    expect(await lastCall()).toMatchObject({ outcome: 'failed' });
    expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
  },
);

test('arguments of 60 KB in small pieces are accepted', async () => {
  const words = Array.from({ length: 2_000 }, () =>
    delta({ tool_calls: [{ index: 0, function: { arguments: 'a line of some thirty letters ' } }] }),
  );
  provider.says(call(0, { name: 'no_such_tool', arguments: '{"text":"' }), ...words, call(0, { arguments: '"}' }), END);
  const turn = sendMessage();
  await waitUntil(async () => (await lastCall())?.outcome === 'ok');
  provider.says(delta({ content: 'Done' }), END);
  expect(await turn).toMatchObject({ status: 'completed' });
});

test.each([
  ['negative numbers of tokens', '{"prompt_tokens":-2000000000,"completion_tokens":-5}'],
  ['more input tokens than the request can have', '{"prompt_tokens":2000000000,"completion_tokens":10}'],
  ['more output tokens than requested', '{"prompt_tokens":10,"completion_tokens":2000000000}'],
  ['a fraction of a token', '{"prompt_tokens":1.5,"completion_tokens":1}'],
  ['a number out of range', '{"prompt_tokens":1e300,"completion_tokens":1}'],
  [
    'more cached tokens than input tokens',
    '{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":11}}',
  ],
  [
    'a negative number of cached tokens',
    '{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":-11}}',
  ],
])('a provider that reports %s is charged by the estimate', async (_, told) => {
  provider.says(delta({ content: 'Hello' }), END, usage(told));
  expect(await sendMessage()).toMatchObject({ status: 'completed' });
  const { outcome, estimated, usd, reserved, input, output } = await lastCall();
  expect({ outcome, estimated }).toEqual({ outcome: 'ok', estimated: true });
  expect([usd > 0, usd <= reserved, input > 0, output > 0]).toEqual([true, true, true, true]);
});

test('plausible usage is charged as reported', async () => {
  provider.says(
    delta({ content: 'Hello' }),
    END,
    usage('{"prompt_tokens":900,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":500}}'),
  );
  await sendMessage();
  expect(await lastCall()).toMatchObject({ outcome: 'ok', estimated: false, output: 7 });
});

test.each(UNSTORABLE_ANSWERS)('a response with %s leaves no call and no turn open', async (_, texts) => {
  provider.says(...texts, END);
  const turn = sendMessage();
  await waitUntil(async () => (await lastCall())?.outcome !== 'started');
  provider.says(delta({ content: 'Done' }), END);
  expect((await turn).status).toMatch(/completed|failed/);
  const { rows } = await api.deps.pool.query("SELECT FROM model_calls WHERE outcome = 'started'");
  expect(rows).toHaveLength(0);
});

test('other requests are served while a provider sends empty events as fast as it can', async () => {
  const many = event({ choices: [] }).repeat(2_000);
  const flood = { begun: false, stopped: false };
  provider.setScript((res) => {
    const send = () => {
      while (!flood.stopped && res.write(many));
    };
    res.on('drain', send).once('close', () => {
      flood.stopped = true;
    });
    flood.begun = true;
    send();
  });
  const turn = me.post('/api/chat', { message: 'Hello', model: 'acme/m', stream: false }).then((res) => res);
  await waitUntil(async () => flood.begun);
  for (let answered = 0; answered < 10; answered++) await me.get('/api/workers').expect(200);
  expect(flood.stopped).toBe(false);
  const { body } = await me.get('/api/conversations').expect(200);
  await me.post(`/api/conversations/${body[0].id}/stop`).expect((res) => expect(res.status).toBeLessThan(300));
  await waitUntil(async () => flood.stopped);
  const answer = await turn;
  // A request waits for a while only, for its connection to the database too: on a busy machine it may have been
  // answered before.
  if (answer.status === 200) expect(['stopped', 'running']).toContain(answer.body.status);
  else expect(answer.status).toBe(503);
});
