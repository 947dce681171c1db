import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { pino } from 'pino';
import { z } from 'zod';
import { traceLinkEnv, tracingEnv } from './env';
import { formatTraceUrl, toTraceFields } from './traceparent';
import { startSpan, startTracing } from './tracing';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const sampled = `00-${TRACE_ID}-b7ad6b7169203331-01`;
const log = pino({ level: 'silent' });

/** OpenTelemetry modules that a process has loaded once it has asked for a span. */
function loadedWith(env: Record<string, string>): string[] {
  const program = `
    const { startTracing, startSpan } = require(${JSON.stringify(path.resolve(__dirname, '../dist'))});
    startTracing('x', process.env, { warn() {} });
    startSpan('a', { kind: 'internal' })?.end();
    console.log(JSON.stringify(Object.keys(require.cache).filter((file) => file.includes('opentelemetry'))));
    process.exit();`;
  return JSON.parse(execFileSync(process.execPath, ['-e', program], { env, encoding: 'utf8' }));
}

test('nothing of OpenTelemetry is loaded without an endpoint, or if it is switched off', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  expect(loadedWith({})).toEqual([]);
  expect(loadedWith({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toEqual([]);
  expect(loadedWith(endpoint).length).toBeGreaterThan(10);
});

test('a span continues the trace of its parent, and begins one if the parent is invalid', async () => {
  process.env.OTEL_TRACES_SAMPLER = 'parentbased_always_off';
  const end = startTracing('x', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, log);
  const startChildSpan = (parent: string | undefined) =>
    startSpan('a', { kind: 'internal', parent })?.traceparent ?? '';
  expect(startChildSpan(sampled)).toMatch(new RegExp(`^00-${TRACE_ID}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`));
  for (const nonsense of [
    undefined,
    '',
    'garbage',
    '00-0-0-0',
    `${sampled}, ${sampled}`,
    sampled.replace(TRACE_ID, '0'.repeat(32)),
  ]) {
    const begun = startChildSpan(nonsense);
    expect(begun).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(begun).not.toContain(TRACE_ID);
  }
  await end();
  expect(startSpan('a', { kind: 'internal' })).toBeUndefined();
});

test('an end does not wait for an unreachable receiver', async () => {
  process.env.OTEL_TRACES_SAMPLER = 'always_on';
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:9';
  const end = startTracing('x', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, log);
  startSpan('a', { kind: 'internal' })?.end();
  await end();
});

test('log lines and links have the trace of a valid traceparent, and links only that of a recorded one', () => {
  expect(toTraceFields(sampled)).toEqual({ trace_id: TRACE_ID });
  for (const none of [null, undefined, '', 'garbage']) expect(toTraceFields(none)).toEqual({});
  const template = 'https://traces.example.test/{trace_id}?to={trace_id}';
  expect(formatTraceUrl(template, sampled)).toBe(`https://traces.example.test/${TRACE_ID}?to=${TRACE_ID}`);
  expect(formatTraceUrl(undefined, sampled)).toBeUndefined();
  expect(formatTraceUrl(template, null)).toBeUndefined();
  expect(formatTraceUrl(template, sampled.replace(/01$/, '00'))).toBeUndefined();
});

test('a variable that OpenTelemetry would misunderstand is refused, and an empty one counts as unset', () => {
  const env = z.object({ ...tracingEnv, ...traceLinkEnv });
  const unset = { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_SAMPLER: '', OTEL_TRACES_SAMPLER_ARG: '' };
  expect(Object.values(env.parse(unset)).filter((value) => value !== undefined)).toEqual([]);
  expect(env.parse({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' })).toMatchObject({
    OTEL_TRACES_SAMPLER_ARG: 0.1,
  });
  for (const wrong of [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' },
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { OTEL_TRACES_SAMPLER: 'sometimes' },
    { OTEL_TRACES_SAMPLER_ARG: '2' },
    { TRACE_URL_TEMPLATE: 'https://traces.example.test/' },
    { TRACE_URL_TEMPLATE: 'javascript:{trace_id}' },
  ]) {
    expect(env.safeParse(wrong).success).toBe(false);
  }
});
