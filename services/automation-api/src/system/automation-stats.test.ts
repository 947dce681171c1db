import { AUTOMATION_STATS_SUBJECT, automationStats, connectBus, newId, request } from '@gantry/events';
import { waitUntil, zeroUsage } from '@gantry/testing';
import { pino } from 'pino';
import { deployArtifact, testService } from '../test/service';

const service = testService();

test('worker-api gets statistics of the automations of a workspace, and of that workspace alone', async () => {
  const bus = await connectBus({
    ...service.nats.as('worker-api'),
    name: 'worker-api',
    log: pino({ level: 'silent' }),
  });
  const requestStats = (workspaceId: string) =>
    request(bus, AUTOMATION_STATS_SUBJECT, { workspaceId }, automationStats, 5_000, 'automation-api');
  const me = service.createCaller();
  const other = service.createCaller();
  await deployArtifact(other);
  const [good, bad, archived] = [await deployArtifact(me), await deployArtifact(me), await deployArtifact(me)];
  await me.delete(`/api/automations/${archived.id}`);
  await me.patch(`/api/automations/${good.id}`, { status: 'paused' }).expect(200);
  const inputs = { who: 'world' };
  const executor = await service.connectExecutor();
  const { body: failing } = await me.post(`/api/automations/${bad.id}/run`, { inputs, wait: 0 }).expect(200);
  const error = { code: 'exception' as const, message: 'no' };
  const job = await executor.claim();
  await job?.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: zeroUsage });
  await waitUntil(async () => (await me.get(`/api/runs/${failing.runId}`)).body.status === 'error');
  await me.post(`/api/automations/${bad.id}/run`, { inputs, wait: 0 }).expect(200);
  expect(await requestStats(me.workspaceId)).toEqual({ total: 2, active: 1, failing: 1, queued: 1, running: 0 });
  expect(await requestStats(newId('ws_'))).toEqual({ total: 0, active: 0, failing: 0, queued: 0, running: 0 });
  await bus.nc.close();
});
