import { startTracing } from '@gantry/tracing';
import { pino } from 'pino';
import { buildRun } from './run-row';
import { buildTestRun } from './test/engines';

const GIVEN = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('a run that no request starts begins a trace, which its row keeps; any other keeps that of its request', async () => {
  expect(buildRun(buildTestRun(), null).traceparent).toBeNull();
  process.env.OTEL_TRACES_SAMPLER = 'always_off';
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  const end = startTracing('x', endpoint, pino({ level: 'silent' }));
  expect(buildRun(buildTestRun(), null).traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(buildRun(buildTestRun({ traceparent: GIVEN }), null).traceparent).toBe(GIVEN);
  await end();
});
