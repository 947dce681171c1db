/** Runs repairs against a provider that an attacker controls: each ends and reports why. */
import { setupResource, waitUntil } from '@gantry/testing';
import { createWorker } from '../test/create-worker';
import {
  call,
  deep,
  delta,
  END,
  HOSTILE_ANSWERS,
  setupHostileProvider,
  UNSTORABLE_ANSWERS,
} from '../test/hostile-provider';
import { playCode, plays } from '../test/play-code';
import { runWorker } from '../test/run-worker';

const { provider, api, me } = setupHostileProvider();
setupResource(
  () => playCode(api),
  (stop) => stop(),
);
let repairPath: string;

/** Each test repairs a worker of its own: a repair that waits for a person blocks further ones of its worker. */
beforeEach(async () => {
  const worker = await createWorker(api, {
    files: [{ path: 'main.py', content: plays({ '*': { raises: 'no column' } }) }],
  });
  repairPath = `/api/runs/${await runWorker(me, worker.id, 'Ada')}/repair`;
});

/** Starts a repair and waits until it has ended. */
async function runRepair() {
  await me.post(repairPath, { model: 'acme/m' }).expect(202);
  const ended = await waitUntil(async () => {
    await api.repairLoop.tick();
    const { body } = await me.get(repairPath).expect(200);
    return !['working', 'rehearsing'].includes(body.status) && body;
  });
  await waitUntil(async () => {
    const { rowCount } = await api.deps.pool.query("SELECT FROM model_calls WHERE outcome = 'started'");
    return rowCount === 0;
  });
  return ended;
}

test.each(HOSTILE_ANSWERS)('a response with %s ends the repair', async (_, texts) => {
  provider.says(...texts, END);
  expect(await runRepair()).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/the response .*(was cut off|could not be read|no end)/),
  });
});

test.each([
  ...UNSTORABLE_ANSWERS,
  ['NUL in a path', [call(0, { name: 'read_file', arguments: '{"path":"a\\u0000b"}' })]],
  ['NUL in a run', [call(0, { name: 'read_log', arguments: '{"run_id":"run_\\u0000"}' })]],
  ['100,000 levels in a proposal', [call(0, { name: 'propose_change', arguments: `{"files":${deep(100_000)}}` })]],
  [
    'a name of an Object.prototype property',
    [
      call(0, { name: '__proto__', arguments: '{}' }),
      call(1, { name: 'constructor', arguments: '{"__proto__":{"path":"main.py"}}' }),
    ],
  ],
  [
    '1,000 calls',
    Array.from({ length: 1_000 }, (_, at) => call(at, { name: 'read_file', arguments: '{"path":"main.py"}' })),
  ],
] as [string, string[]][])('repeated responses with %s end the repair', async (_, texts) => {
  provider.says(...texts, END);
  const ended = await runRepair();
  expect(ended).toMatchObject({ status: 'failed', error: expect.any(String) });
  expect(ended.error).not.toMatch(/an internal error occurred|could not be reached/);
});

test('a repair whose provider never ends its response can be stopped', async () => {
  let isOpen = false;
  provider.setScript((res) => {
    isOpen = true;
    const timer = setInterval(() => res.write(delta({ content: 'a' })), 20);
    res.once('close', () => {
      clearInterval(timer);
      isOpen = false;
    });
  });
  const ended = runRepair();
  await waitUntil(async () => isOpen);
  await me.post(`${repairPath}/stop`).expect(200);
  expect(await ended).toMatchObject({ status: 'stopped' });
  await waitUntil(async () => !isOpen);
});

test('a proposal with characters that cannot be stored waits for a person without them', async () => {
  const files = [{ path: 'a\0.py', content: '\0\ud800' }];
  const input = JSON.stringify({ explanation: 'Removes a\0', files });
  provider.says(call(0, { name: 'propose_change', arguments: input }), END);
  const proposed = await runRepair();
  expect(proposed).toMatchObject({ status: 'waiting', explanation: 'Removes a\ufffd' });
});
