/** The fuzz itself, on a service with holes: one that finds nothing proves nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { createTemporaryDir } from '../run-dir';
import { waitUntil } from '../wait-until';
import { type FuzzOptions, fuzz } from './fuzz/fuzz';
import { createKnownResources } from './fuzz/known-resources';
import { createRandom } from './fuzz/random';

const openapiFile = path.join(__dirname, 'test/leaky.yaml');

let leaky: ChildProcess;
let lines: string[];
let options: Omit<FuzzOptions, 'seed'>;

beforeAll(async () => {
  leaky = spawn(process.execPath, [path.join(__dirname, 'test/leaky-service.cjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let written = '';
  lines = [];
  leaky.stdout?.on('data', (data) => {
    const whole = (written + data).split('\n');
    written = whole.pop() ?? '';
    lines.push(...whole);
  });
  const first = await waitUntil(() => lines[0]);
  const [port, metricsPort] = JSON.parse(first).ports;
  options = {
    surfaces: [{ name: 'leaky', openapiFile, url: `http://127.0.0.1:${port}` }],
    credentials: [{ name: 'anonymous', headers: {} }],
    things: createKnownResources({ ids: {}, keep: new Set(), findKind: () => undefined }),
    services: [{ service: 'leaky', url: `http://127.0.0.1:${metricsPort}/metrics` }],
    newLogLines: () => lines.splice(0),
    zip: Buffer.from('PK'),
  };
});

afterAll(() => leaky?.kill('SIGKILL'));

/** Only these operations of the service. */
function withOnly(...ids: string[]): Omit<FuzzOptions, 'seed'> {
  const document = parse(fs.readFileSync(openapiFile, 'utf8'));
  const kept = Object.entries<Record<string, { operationId: string }>>(document.paths).filter(([, item]) =>
    Object.values(item).some(({ operationId }) => ids.includes(operationId)),
  );
  const file = path.join(createTemporaryDir('fuzz'), 'some.yaml');
  fs.writeFileSync(file, stringify({ ...document, paths: Object.fromEntries(kept) }));
  return { ...options, surfaces: options.surfaces.map((surface) => ({ ...surface, openapiFile: file })) };
}

test.each([
  ['throws', 'status', /leaky throws: 500/],
  ['blocks', 'blocked', /leaky by blocks, more than 250 ms/],
  ['logs', 'log', /leaky : it broke/],
  ['lies', 'answer', /leaky lies: 200 at \/well must be boolean/],
  ['nameless', 'answer', /leaky nameless: 200 without X-Request-Id/],
  ['cut', 'no answer', /leaky cut: socket hang up/],
  ['traces', 'answer', /leaky traces: 400 tells/],
  ['fragile', 'status', /leaky fragile: 500/],
])('a service that %s is detected among correct ones', async (hole, kind, what) => {
  const requests = hole === 'blocks' ? 12 : 60;
  const report = await fuzz({ ...withOnly('good', hole), seed: 1, requests });
  const found = report.findings.filter((finding) => finding.kind === kind && what.test(finding.what));
  expect(found).toHaveLength(1);
  // A log line without a request's id belongs to none.
  if (kind !== 'log') expect(found[0]?.request?.text).toContain(hole);
  expect(report.findings.filter((finding) => finding.what.includes('good'))).toEqual([]);
});

test('a correct service has no findings', async () => {
  const report = await fuzz({ ...withOnly('good'), seed: 1, requests: 200 });
  expect(report.findings).toEqual([]);
  expect(report.operations).toEqual({ known: 1, asked: 1, succeeded: 1, neverSucceeded: [] });
  expect(report.statuses).toEqual({ 200: 200 });
});

test('the same seed sends the same requests, another seed others', async () => {
  const listRequests = async (seed: number) => {
    lines.length = 0;
    await fuzz({ ...withOnly('good', 'fragile'), newLogLines: () => [], seed, requests: 60 });
    return lines.map((line) => JSON.parse(line).asked).sort();
  };
  const first = await listRequests(7);
  expect(await listRequests(7)).toEqual(first);
  expect(await listRequests(8)).not.toEqual(first);
});

test('one request of a seed can be sent again alone', async () => {
  const subject = withOnly('good', 'fragile');
  const all = await fuzz({ ...subject, seed: 1, requests: 60 });
  const finding = all.findings.find(({ kind }) => kind === 'status');
  const again = await fuzz({ ...subject, seed: 1, from: finding?.request?.index, requests: 1 });
  expect(again.findings.map(({ what, request }) => ({ what, request }))).toEqual([
    { what: finding?.what, request: finding?.request },
  ]);
});

test('the generator is uniform enough to reach every operation and every kind of value', () => {
  const random = createRandom(3, 1, 2);
  const counts = Array.from({ length: 10 }, () => 0);
  for (let i = 0; i < 10_000; i++) {
    const n = random.int(10);
    counts[n] = (counts[n] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(850);
  expect(Math.max(...counts)).toBeLessThan(1_150);
});
