import { setImmediate as nextTurn } from 'node:timers/promises';
import { connectBus } from '@gantry/events';
import { setupResource, startTestNats } from '@gantry/testing';
import { pino } from 'pino';
import { createRunSignals } from './run-signals';
import type { RunTokens } from './run-tokens';

const nats = setupResource(startTestNats, (server) => server.stop());

test('a run that changes while its service closes its connection is no error', async () => {
  const bus = await connectBus({ ...nats.as('worker-api'), name: 'worker-api', log: pino({ level: 'silent' }) });
  const signals = createRunSignals(bus, 'worker', {} as RunTokens);
  void bus.nc.drain();
  while (!bus.nc.isClosed()) {
    signals.changed('run_1');
    await nextTurn();
  }
  signals.changed('run_1');
});
