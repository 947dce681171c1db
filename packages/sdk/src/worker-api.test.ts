/** The SDK against the real worker surface. */
import { setupNats, setupWorkerApi } from '@gantry/testing';
import { createGantry, type Gantry, paginate, unwrap } from './index';

const api = setupWorkerApi(setupNats());
let gantry: Gantry;

beforeAll(async () => {
  const { token } = await api.createToken('personal', api.owner.jwt);
  gantry = createGantry({ baseUrl: api.url, token });
  await api.serveRuns(() => ({ total: 12 }));
  const files = [{ path: 'main.py', content: 'def run():\n    return {"total": 12}\n' }];
  await unwrap(gantry.worker.POST('/api/workers', { body: { name: 'Report', files } }));
});

test('a run is started, waited for and listed', async () => {
  const { run_id: runId } = await gantry.runs.start('report');
  expect(await gantry.runs.wait(runId)).toMatchObject({ status: 'completed', output: { total: 12 } });
  const listed: string[] = [];
  for await (const { id } of gantry.runs.list({ worker_id: 'report' })) listed.push(id);
  expect(listed).toContain(runId);
});

test('two starts with one key are one run', async () => {
  const start = () => gantry.runs.start('report', {}, { idempotencyKey: 'once' });
  const [first, second] = await Promise.all([start(), start()]);
  expect(second).toEqual(first);
});

test('the events of a run can be read from any position', async () => {
  const { run_id: runId } = await gantry.runs.start('report');
  const ids: string[] = [];
  for await (const { id } of gantry.runs.events(runId)) ids.push(id);
  const later: string[] = [];
  for await (const { id } of gantry.runs.events(runId, { lastEventId: ids[0] ?? '' })) later.push(id);
  expect(later).toEqual(ids.slice(1));
});

test('small pages give the same list as one large one', async () => {
  for (let count = 0; count < 3; count++) await gantry.runs.wait((await gantry.runs.start('report')).run_id);
  const readPage = async (limit: number) => {
    const ids: string[] = [];
    for await (const { id } of gantry.runs.list({ limit })) ids.push(id);
    return ids;
  };
  const all = await readPage(200);
  expect(all.length).toBeGreaterThan(2);
  expect(await readPage(2)).toEqual(all);
  const workers: string[] = [];
  for await (const { id } of paginate(gantry.worker, '/api/workers', { params: { query: { limit: 1 } } }))
    workers.push(id);
  expect(workers).toEqual(['report']);
});

test('a refused request is an ApiError with its code', async () => {
  await expect(gantry.runs.start('missing')).rejects.toMatchObject({ status: 404, code: 'not_found' });
  const stranger = createGantry({ baseUrl: api.url, token: 'svc_wrong' });
  await expect(stranger.runs.start('report')).rejects.toMatchObject({ status: 401, name: 'ApiError' });
});
