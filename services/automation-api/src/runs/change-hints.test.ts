/** worker-api pushes changes to pages, and receives those of this surface by message. */
import { buildChangesSubject, changeHints, connectBus, listen } from '@gantry/events';
import { waitUntil, zeroUsage } from '@gantry/testing';
import { pino } from 'pino';
import { deployArtifact, testService } from '../test/service';

const service = testService();
const log = pino({ level: 'silent' });

test('worker-api is told when a run starts and when it ends, and in which workspace', async () => {
  const bus = await connectBus({ ...service.nats.as('worker-api'), name: 'worker-api', log });
  const receivedHints: unknown[] = [];
  listen(bus, buildChangesSubject('*'), changeHints, ({ changes }) => receivedHints.push(...changes), { log });
  await bus.nc.flush();
  const me = service.createCaller();
  const automation = await deployArtifact(me);
  const executor = await service.connectExecutor();
  const { body } = await me
    .post(`/api/automations/${automation.id}/run`, { inputs: { who: 'world' }, wait: 0 })
    .expect(200);
  const hint = [me.workspaceId, 'runs', body.runId];
  await waitUntil(() => receivedHints.length > 0);
  expect(receivedHints).toContainEqual(hint);
  const job = await executor.claim();
  // Longer than the interval over which hints are collected.
  await new Promise((resolve) => setTimeout(resolve, 200));
  receivedHints.length = 0;
  await job?.report({ type: 'started' }, { type: 'finished', status: 'completed', output: {}, usage: zeroUsage });
  await waitUntil(() => receivedHints.length > 0);
  expect(receivedHints).toEqual([hint]);
  await bus.nc.close();
});
