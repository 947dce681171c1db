/** A visitor's view of a run that they started from a public link, on every path. */
import type { RunError } from '@gantry/events';
import { type FakeEvent, setupResource, zeroUsage } from '@gantry/testing';
import { deployArtifact, testService } from '../test/service';

const SECRET = 'BILLING_API_KEY';
const TRACE = 'Traceback (most recent call last):\n  File "/code/billing/charge.py", line 31, in charge\n    raise';
const manifest = { name: 'Shared', inputs: ['who'], secrets_needed: [SECRET] };

let id: string;
const service = testService();
const me = setupResource(() => service.createCaller());
const executor = setupResource(() => service.connectExecutor());
beforeAll(async () => {
  ({ id } = await deployArtifact(me, {
    files: { 'main.py': 'def run(who): pass' },
    manifest,
    deploy: { visibility: 'public' },
  }));
  await me.post('/api/secrets', { name: SECRET, value: 'secret value' }).expect(201);
});

/** Starts a run from the link that ends with these events. @returns every response a visitor gets, by path */
async function runAndCollect(...events: FakeEvent[]): Promise<{ runId: string; told: Record<string, string> }> {
  const response = service.anonymous.post(`/api/pages/${id}/runs`, { inputs: { who: 'x' } });
  const started = response.then(({ text, body }) => ({ text, runId: body.runId as string }));
  await (await executor.claim())?.report({ type: 'started' }, ...events);
  const { text, runId } = await started;
  const page = `/api/pages/${id}/runs/${runId}`;
  const told: Record<string, string> = { run: text, detail: (await service.anonymous.get(page).expect(200)).text };
  for (const path of [`${page}/events`, `${page}/events?logs=true`]) {
    told[`${path} as events`] = (await service.anonymous.get(path).expect(200)).text;
    told[`${path} as lines`] = (
      await service.anonymous.get(path).set('Accept', 'application/x-ndjson').buffer(true).parse(parseText).expect(200)
    ).body;
  }
  const cancelled = await service.anonymous.post(`${page}/cancel`);
  told.cancel = cancelled.text;
  return { runId, told };
}

function parseText(res: unknown, done: (err: Error | null, text: string) => void) {
  const stream = res as NodeJS.ReadableStream;
  let text = '';
  stream.on('data', (chunk) => {
    text += chunk;
  });
  stream.on('end', () => done(null, text));
}

const buildFailed = (error: RunError): FakeEvent => ({ type: 'finished', status: 'failed', error, usage: zeroUsage });
const request = {
  type: 'request',
  method: 'GET',
  scheme: 'https',
  host: 'billing.example',
  port: 443,
  path: '/cards',
  status: 200,
  bytesSent: 1,
  bytesReceived: 1,
  durationMs: 1,
  credentials: [],
} satisfies FakeEvent;
const line = (text: string): FakeEvent => ({ type: 'log', stream: 'stderr', level: 'error', text });
const expectNoSecrets = (told: Record<string, string>, ...secrets: (string | RegExp)[]) => {
  for (const [path, text] of Object.entries(told)) {
    for (const secret of secrets) expect([path, text]).toEqual([path, expect.not.stringMatching(secret)]);
  }
};

test('a failed run shows its status and message, but no trace, no file and no name of a secret', async () => {
  const { runId, told } = await runAndCollect(
    line('charging the card'),
    ...TRACE.split('\n').map(line),
    { type: 'step', ordinal: 1, kind: 'step', name: 'charge the internal account', durationMs: 5 },
    { type: 'cost', usd: 0.25, label: 'the internal model' },
    { type: 'progress', fraction: 0.5, message: 'half way' },
    request,
    buildFailed({
      code: 'exception',
      type: 'RuntimeError',
      message: `card refused: ${SECRET} is not valid, see /code/billing/charge.py`,
      trace: TRACE,
    }),
  );
  for (const text of Object.values(told).slice(0, -1)) expect(text).toContain('card refused');
  expectNoSecrets(told, SECRET, '/code', 'charge.py', 'Traceback', 'trace', 'line 31', 'internal', request.host);
  expect(told.detail).toContain('charging the card');
  expect(told[`/api/pages/${id}/runs/${runId}/events?logs=true as lines`]).toMatch(/charging the card[\s\S]*half way/);
  // The author sees everything.
  const { text } = await me.get(`/api/runs/${runId}/events?logs=true`).expect(200);
  for (const shown of [SECRET, 'Traceback', 'charge.py', 'internal']) expect(text).toContain(shown);
  expect(text).not.toContain(request.host);
});

test.each<RunError>([
  { code: 'missing_secret', message: `secrets not set in this workspace: ${SECRET}` },
  { code: 'exception', type: 'SecretNotAvailable', message: `"secret 'OTHER_KEY' is not available: declare it"` },
  { code: 'exception', type: 'KeyError', message: "'OTHER_KEY'" },
  { code: 'dependency_install', message: 'no such package: acme-internal==3' },
])('a run that cannot work yet ($code, $message) shows that it is not set up, not what is missing', async (error) => {
  const { told } = await runAndCollect(buildFailed({ ...error, trace: TRACE }));
  expectNoSecrets(told, SECRET, 'OTHER_KEY', 'acme', 'Traceback', '/code');
  for (const text of Object.values(told).slice(0, -1)) expect(text).toContain('not fully set up yet');
});

test.each<[RunError, string]>([
  [{ code: 'exception', type: 'SyntaxError', message: 'invalid syntax (charge.py, line 3)' }, 'invalid syntax'],
  [
    {
      code: 'exception',
      type: 'FileNotFoundError',
      message: "[Errno 2] No such file or directory: '/code/charge.csv'",
    },
    'No such file or directory',
  ],
  [
    { code: 'sandbox', message: 'The run could not be prepared: EACCES /var/lib/gantry/charge.zip' },
    'could not be run',
  ],
])('file locations are removed from the message of an exception: %o', async (error, said) => {
  const { told } = await runAndCollect(buildFailed(error));
  expectNoSecrets(told, 'charge', 'line 3', '/code', '/var');
  for (const text of Object.values(told).slice(0, -1)) expect(text).toContain(said);
});

test('a completed run is shown in full: its output, progress, files and outputs', async () => {
  const { runId, told } = await runAndCollect(
    line('see https://example.test/code/of/conduct'),
    { type: 'progress', fraction: 1, message: 'done' },
    {
      type: 'artifact',
      artifactId: 'art_report',
      name: 'report.csv',
      contentType: 'text/csv',
      size: 1,
      sha256: '0'.repeat(64),
      key: `${me.workspaceId}/runs/x/1/report`,
    },
    { type: 'finished', status: 'completed', output: { n: 1 }, usage: zeroUsage },
  );
  const events = told[`/api/pages/${id}/runs/${runId}/events?logs=true as lines`] ?? '';
  for (const shown of ['/code/of/conduct', 'art_report', '"fraction":1', '"output":{"n":1}', 'done']) {
    expect(events).toContain(shown);
  }
  expectNoSecrets(told, me.workspaceId);
});
