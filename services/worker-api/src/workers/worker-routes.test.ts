import { callerOf } from '../test/caller';
import { createWorker, helloWorker } from '../test/create-worker';
import { startTestWorkerApi, type TestWorkerApi } from '../test/test-worker-api';

let api: TestWorkerApi;
let owner: ReturnType<typeof callerOf>;
beforeAll(async () => {
  api = await startTestWorkerApi();
  owner = callerOf(api.url, api.owner.jwt);
});
afterAll(async () => {
  if (process.env.SHOW) process.stdout.write(JSON.stringify(api.logs.lines?.slice(-3) ?? api.logs, null, 1));
  await api.stop();
});

test('a worker is made with every default spelt out, and read again as it was answered', async () => {
  const made = await createWorker(api, { tags: ['demo', 'demo'] });
  expect(made).toMatchObject({
    id: 'hello',
    name: 'Hello',
    status: 'active',
    health: 'ready',
    trigger_type: 'manual',
    triggers: [{ type: 'manual' }],
    runner: 'python',
    entrypoint: 'main.py',
    version: 1,
    tags: ['demo'],
    last_run: null,
    owner_id: api.owner.userId,
    limits: { timeout_seconds: 300, memory_mb: 512 },
    warnings: [],
  });
  const { warnings: _, ...rest } = made;
  const { body } = await owner.get('/api/workers/hello').expect(200);
  expect(body).toEqual(rest);
  const { body: list } = await owner.get('/api/workers').expect(200);
  expect(list[0]).toMatchObject({
    id: 'hello',
    status: 'active',
    trigger_type: 'manual',
    runner: 'python',
    last_run: null,
  });
  void helloWorker;
});
