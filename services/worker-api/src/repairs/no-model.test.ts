import { setupResource, waitUntil } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { playCode, plays } from '../test/play-code';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
setupResource(
  () => playCode(api),
  (stop) => stop(),
);
const me = setupResource(() => createCaller(api.url, api.owner.jwt));

test('without a configured model the error says how to set one, and no repair starts automatically', async () => {
  const files = [{ path: 'main.py', content: plays({ '*': { raises: 'boom' } }) }];
  const worker = await createWorker(api, { files, on_failure: 'propose_repair' });
  const { run_id: runId } = (await me.post(`/api/workers/${worker.id}/runs`, {}).expect(201)).body;
  await waitUntil(async () => (await me.get(`/api/runs/${runId}`)).body.completed_at !== null);
  const { body } = await me.post(`/api/runs/${runId}/repair`, {}).expect(409);
  expect(body).toMatchObject({ code: 'no_model', detail: expect.stringContaining('MODEL_PROVIDERS') });
  await me.get(`/api/runs/${runId}/repair`).expect(404);
});
