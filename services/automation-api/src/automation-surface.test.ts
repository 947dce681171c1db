/** Follows the path of the README from end to end. */
import { createZip } from '@gantry/testing';
import { helloCode, helloManifest, testService, uploadZip } from './test/service';

const service = testService();
beforeAll(async () => {
  await service.serveRuns((job) => ({ greeting: `Hello, ${job.inputs?.who}` }));
});

test('a zip is uploaded, tested, deployed, run, updated and rolled back', async () => {
  const me = service.createCaller();
  const storageKey = await uploadZip(me, await createZip({ 'main.py': helloCode, 'manifest.json': '{}' }));
  const artifact = await me.post('/api/artifacts', { manifest: helloManifest, entrypoint: 'main.py', storageKey });
  expect(artifact.status).toBe(201);
  const { artifactId } = artifact.body;
  expect(artifactId).toMatch(/^art_/);

  const test = await me.post('/api/test', { artifactId, inputs: { who: 'tester' } }).expect(200);
  expect(test.body).toMatchObject({
    testRunId: expect.stringMatching(/^tr_/),
    status: 'success',
    result: { status: 'success', outputs: { greeting: 'Hello, tester' }, logs: '' },
  });

  const { body: automation } = await me.post('/api/deploy', { artifactId }).expect(201);
  expect(automation).toMatchObject({ currentVersion: 1, status: 'active', url: `${service.url}/a/${automation.id}` });

  const run = await me.post(`/api/automations/${automation.id}/run`, { inputs: { who: 'Ada' } }).expect(200);
  expect(run.body).toEqual({
    runId: expect.stringMatching(/^run_/),
    status: 'success',
    result: { status: 'success', outputs: { greeting: 'Hello, Ada' }, logs: '' },
  });
  const polled = await me.get(`/api/runs/${run.body.runId}`).expect(200);
  expect(polled.body).toMatchObject({ ...run.body, version: 1, trigger: 'api', inputs: { who: 'Ada' } });

  const updated = await me.post(`/api/automations/${automation.id}/update`, { artifactId, message: 'again' });
  expect(updated.body).toMatchObject({ id: automation.id, url: automation.url, currentVersion: 2 });
  const back = await me.post(`/api/automations/${automation.id}/rollback`).expect(200);
  expect(back.body).toMatchObject({ id: automation.id, url: automation.url, currentVersion: 1 });
});

test("the document of the surface names this surface's own address", async () => {
  const { body } = await service.createCaller().get('/openapi.json').expect(200);
  expect(body.servers).toEqual([{ url: service.url }]);
});
