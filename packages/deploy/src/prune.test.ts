/** The files of the images, without Docker: each service runs from the pruned tree that its image contains. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { createApiClient, createTemporaryDir, type Stack, startStack, waitUntil } from '@gantry/testing';

const run = promisify(execFile);
const root = path.resolve(__dirname, '../../..');

let out: string;
let stack: Stack;

beforeAll(async () => {
  out = createTemporaryDir('images');
  // Sandboxes run as users of their own.
  fs.chmodSync(out, 0o711);
  await run(process.execPath, [path.join(root, 'packages/deploy/prune.mjs'), out]);
  stack = await startStack({ skillsApi: true, codeDir: (service) => path.join(out, service) });
});

afterAll(() => stack?.stop());

const program = (image: string, name: string, args: string[] = [], env: Record<string, string> = {}) =>
  run(process.execPath, [path.join(out, image, 'bin', name), ...args], { env: { PATH: process.env.PATH, ...env } });

test('a worker is created and runs', async () => {
  const call = createApiClient(stack.workerUrls[0] ?? '', stack.token);
  const files = [{ path: 'main.py', content: 'def run(n):\n    return {"double": 2 * n}\n' }];
  const inputs = [{ name: 'n', type: 'integer' }];
  const created = await call('POST', '/api/workers', { name: 'Double', trigger: 'manual', inputs, files });
  expect(created).toMatchObject({ status: 201 });
  const { body } = await call('POST', `/api/workers/${created.body.id}/runs`, { inputs: { n: 21 } });
  const ended = await waitUntil(async () => {
    const run = await call('GET', `/api/runs/${body.run_id}`);
    return !['queued', 'running'].includes(run.body.status) && run.body;
  });
  expect(ended).toMatchObject({ status: 'completed', output: { double: 42 } });
});

test('a request that violates the specification is refused as such', async () => {
  const call = createApiClient(stack.automationUrls[0] ?? '', stack.token);
  expect(await call('POST', '/api/artifacts', { entrypoint: 1 })).toMatchObject({ status: 400 });
});

test('automation-api serves the dashboard and the HTTP reference', async () => {
  for (const page of ['/', '/docs']) {
    const response = await fetch(new URL(page, stack.automationUrls[0]));
    expect({ page, status: response.status }).toEqual({ page, status: 200 });
  }
});

test.each([
  ['worker-api', 'worker'],
  ['automation-api', 'automation'],
  ['skills-api', 'skills'],
] as const)('the migrate program of %s knows the migrations of its database', async (image, database) => {
  const DATABASE_URL = stack.databaseUrls[database];
  await expect(program(image, 'migrate', ['status'], { DATABASE_URL })).resolves.toBeDefined();
  expect((await program(image, 'migrate', [], { DATABASE_URL })).stdout).toContain('up to date');
});

test('the setup image creates every secret', async () => {
  const dir = createTemporaryDir('secrets');
  expect((await program('setup', 'generate', [dir])).stdout).toContain('credentials for');
  expect((await program('setup', 'generate', [dir])).stdout).toContain('everything already exists');
});

test('every program of an image calls a function that its tree has', () => {
  const calls = fs.readdirSync(out).flatMap((image) =>
    fs.readdirSync(path.join(out, image, 'bin')).flatMap((name) => {
      const text = fs.readFileSync(path.join(out, image, 'bin', name), 'utf8');
      return [...text.matchAll(/require\('\.\.\/([^']+)'\)\.(\w+)/g)].map(([, file = '', called = '']) => ({
        called: `${image} ${name}: ${called}`,
        type: typeof createRequire(path.join(out, image, 'bin', name))(path.join(out, image, file))[called],
      }));
    }),
  );
  expect(calls.length).toBeGreaterThan(10);
  expect(calls.filter(({ type }) => type !== 'function')).toEqual([]);
});
