/** worker-api pushes changes to pages, and receives those of this surface by message. */
import { changeHints, changesSubject, connectBus, listen } from '@gantry/events';
import { noUsage, until } from '@gantry/testing';
import { pino } from 'pino';
import { deployed, testService } from '../test/service';

const service = testService();
const log = pino({ level: 'silent' });

test('worker-api hears that a run has begun and that it has ended, and in which workspace', async () => {
  const bus = await connectBus({ ...service.nats.as('worker-api'), name: 'worker-api', log });
  const heard: unknown[] = [];
  listen(bus, changesSubject('*'), changeHints, ({ changes }) => heard.push(...changes), { log });
  await bus.nc.flush();
  const me = service.signedIn();
  const automation = await deployed(me);
  const executor = await service.connectExecutor();
  const { body } = await me
    .post(`/api/automations/${automation.id}/run`, { inputs: { who: 'world' }, wait: 0 })
    .expect(200);
  const hint = [me.workspaceId, 'runs', body.runId];
  await until(() => heard.length > 0);
  expect(heard).toContainEqual(hint);
  const job = await executor.claim();
  // Longer than the interval over which hints are collected.
  await new Promise((resolve) => setTimeout(resolve, 200));
  heard.length = 0;
  await job?.report({ type: 'started' }, { type: 'finished', status: 'completed', output: {}, usage: noUsage });
  await until(() => heard.length > 0);
  expect(heard).toEqual([hint]);
  await bus.nc.close();
});
