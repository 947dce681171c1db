/**
 * Traces as tests of the file that calls this: one from the gateway to the step, and nothing in it that people wrote.
 */
import { randomBytes } from 'node:crypto';
import { createApiClient, deployAutomation } from '../api-client';
import type { Stack } from '../stack';
import { waitUntil } from '../wait-until';
import type { SpanReceiver } from './span-receiver';

const SECRET = 'swordfish-in-a-safe';
const INPUT = 'what-nobody-else-may-read';
const CODE = `
import os
def run(word, context):
    context.step("step about " + word, lambda: len(os.environ["SAFE"]))
    return {"length": len(word)}
`;
const MANIFEST = {
  name: 'Traced',
  inputs: [{ name: 'word', type: 'string' }],
  outputs: ['length'],
  secrets_needed: ['SAFE'],
};

interface CallerTraceContext {
  traceId: string;
  spanId: string;
  traceparent: string;
}

function createCallerTraceContext(flags: '00' | '01'): CallerTraceContext {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

/** Settings of a platform that sends its spans there. */
export const buildTracingEnv = (receiver: SpanReceiver): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  OTEL_BSP_SCHEDULE_DELAY: '50',
  TRACE_URL_TEMPLATE: 'https://traces.example.test/explore?id={trace_id}',
});

export function testTraces(stack: Stack, receiver: SpanReceiver): void {
  let automationId: string;

  beforeAll(async () => {
    const call = createApiClient(stack.automationUrls[0] as string, stack.token);
    await call('POST', '/api/secrets', { name: 'SAFE', value: SECRET });
    ({ id: automationId } = await deployAutomation(call, { 'main.py': CODE }, MANIFEST));
  });

  /** Through the gateway, waiting for the end. @returns its id */
  async function runTraced(traceparent: string): Promise<string> {
    const response = await fetch(`${stack.gateway?.dashboard}/api/automations/${automationId}/run`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${stack.token}`, 'Content-Type': 'application/json', traceparent },
      body: JSON.stringify({ inputs: { word: INPUT }, wait: 10 }),
    });
    const body = (await response.json()) as { status: string; runId: string };
    expect(body).toMatchObject({ status: 'success' });
    return body.runId;
  }

  const findSpans = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId);

  test('a run with a waiting caller is one trace: request, claim, run and step, each a child of the one before', async () => {
    const caller = createCallerTraceContext('01');
    const runId = await runTraced(caller.traceparent);
    const spans = await waitUntil(() => findSpans(caller.traceId).length >= 4 && findSpans(caller.traceId));
    const order = ['automation-api runAutomation', 'automation-api claim', 'executor run', 'executor step'];
    let parent = caller.spanId;
    for (const expected of order) {
      const found = spans.filter(({ service, name }) => `${service} ${name}` === expected);
      expect({ expected, parents: found.map((span) => span.parentSpanId) }).toEqual({ expected, parents: [parent] });
      parent = found[0]?.spanId ?? '';
    }
    expect(spans.find(({ name }) => name === 'run')?.attributes).toMatchObject({ 'gantry.run.id': runId });
  });

  test('no span contains a secret, an input, a name or a credential', async () => {
    const before = receiver.spans.length;
    await runTraced(createCallerTraceContext('01').traceparent);
    await waitUntil(() => receiver.spans.slice(before).some(({ name }) => name === 'step'));
    const sent = receiver.bodies.join('\n');
    for (const kept of [SECRET, INPUT, 'step about', 'Traced', stack.token]) expect(sent).not.toContain(kept);
  });

  test('a request that its caller does not sample has no spans in any service', async () => {
    const [left, taken] = [createCallerTraceContext('00'), createCallerTraceContext('01')];
    await runTraced(left.traceparent);
    await runTraced(taken.traceparent);
    await waitUntil(() => findSpans(taken.traceId).length >= 4);
    expect(findSpans(left.traceId)).toEqual([]);
  });

  test('a request without a trace begins one, and health checks begin none', async () => {
    const call = createApiClient(stack.workerUrls[0] as string, stack.token);
    const files = [{ path: 'main.py', content: 'def run():\n    return 1\n' }];
    await call('POST', '/api/workers', { id: 'alone', name: 'Alone', files });
    const { body } = await call('POST', '/api/workers/alone/runs', {});
    const run = await waitUntil(() =>
      receiver.spans.find(({ name, attributes }) => name === 'run' && attributes['gantry.run.id'] === body.run_id),
    );
    const listSpanNames = () => findSpans(run.traceId).map(({ name }) => name);
    await waitUntil(() => listSpanNames().length >= 3);
    expect(listSpanNames().sort()).toEqual(['claim', 'run', 'startRun']);
    expect(receiver.spans.filter(({ name }) => ['ready', 'live'].includes(name))).toEqual([]);
  });

  test('log lines of a request carry its trace_id', async () => {
    const { traceId, traceparent } = createCallerTraceContext('01');
    const url = `${stack.gateway?.dashboard}/api/automations/00000000-0000-0000-0000-000000000000`;
    await fetch(url, { headers: { Authorization: `Bearer ${stack.token}`, traceparent } });
    await waitUntil(() => stack.output().includes(`"trace_id":"${traceId}"`));
  });

  test("a run's detail links to its trace if the operator configures how", async () => {
    const { traceId, traceparent } = createCallerTraceContext('01');
    const runId = await runTraced(traceparent);
    const call = createApiClient(stack.automationUrls[0] as string, stack.token);
    expect((await call('GET', `/api/runs/${runId}`)).body.traceUrl).toBe(
      `https://traces.example.test/explore?id=${traceId}`,
    );
  });
}
