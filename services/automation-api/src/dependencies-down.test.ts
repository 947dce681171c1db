/** Responses while PostgreSQL or NATS is down, and automatic recovery. */
import { setupResource, terminateConnections, waitUntil } from '@gantry/testing';
import { deployArtifact, startService, testService } from './test/service';

const service = testService();
const me = setupResource(() => service.createCaller());

test('alive and ready', async () => {
  expect((await service.anonymous.get('/healthz').expect(200)).body).toEqual({ status: 'ok' });
  expect((await service.anonymous.get('/health').expect(200)).body).toEqual({ status: 'ok' });
});

test('cut connections to PostgreSQL cost at most some 503s, and then requests succeed', async () => {
  const { id } = await deployArtifact(me);
  await terminateConnections(service.database);
  const statuses = new Set<number>();
  await waitUntil(async () => {
    const { status } = await me.get(`/api/automations/${id}`);
    statuses.add(status);
    return status === 200;
  });
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
});

test('without NATS runs are accepted and stored, artifacts are a 503, and the service names what is down and stays ready', async () => {
  const { id } = await deployArtifact(me);
  await service.nats.kill();
  const ready = await waitUntil(async () => {
    const response = await service.anonymous.get('/health');
    return response.body.status !== 'ok' && response;
  });
  expect(ready.status).toBe(200);
  expect(ready.body).toEqual({ status: 'degraded', down: ['nats', 'jetstream'] });
  const { body } = await me.post(`/api/automations/${id}/run`, { inputs: { who: 'x' }, wait: 0 }).expect(200);
  expect(body.status).toBe('pending');
  await service.nats.restart();
  await waitUntil(async () => (await service.anonymous.get('/health')).body.status === 'ok');
  await service.serveRuns(() => ({ greeting: 'late' }));
  await waitUntil(async () => (await me.get(`/api/runs/${body.runId}`)).body.status === 'success');
});

test('while draining it serves requests, and reports that it is stopping', async () => {
  const draining = await startService();
  await draining.api.drain();
  const { body } = await draining.anonymous.get('/health').expect(503);
  expect(body.status).toBe('draining');
  await draining.createCaller().get('/api/automations').expect(200);
  await draining.stop();
});

test('an unknown path and a wrong method are a 404 and a 405 in the shape of this surface', async () => {
  expect((await me.get('/api/unknown').expect(404)).body).toEqual({ error: expect.any(String), code: 'not_found' });
  const { body } = await me.delete('/api/deploy').expect(405);
  expect(body).toEqual({ error: expect.any(String), code: 'method_not_allowed' });
});
