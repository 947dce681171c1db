/**
 * After a workspace was used as people use it and is purged, nothing in three databases and the object store names it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { Pool } from 'pg';
import { type ApiCall, type ApiResponse, createApiClient, deployAutomation } from './api-client';
import { type Stack, startStack } from './stack';
import { waitUntil } from './wait-until';

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
type Json = any;

const LARGE = 200_000;
const SCRIBE = `
def run(table, context):
    context.artifact("copy.csv", open(table, "rb").read())
    open("contexts/notes/seen.txt", "a").write("seen")
    return "x" * ${LARGE}
`;
const UNLUCKY = `
import time

def run(context):
    context.artifact("attempt", b"x")
    if context.attempt == 1:
        time.sleep(600)
    return context.attempt
`;
const TABULATE = `
def run(table, context):
    context.artifact("copy.csv", open(table, "rb").read())
    return {"text": "x" * ${LARGE}}
`;

let stack: Stack;
/** By database. */
let pools: Record<string, Pool>;
let worker: ApiCall;
let automation: ApiCall;
let skills: ApiCall;
beforeAll(async () => {
  stack = await startStack({ skillsApi: true, gateway: true });
  const { gateway, token, databaseUrls } = stack;
  if (!gateway) throw new Error('the stack has no gateway');
  worker = createApiClient(gateway.worker, token);
  automation = createApiClient(gateway.dashboard, token);
  skills = createApiClient(gateway.skills, token);
  pools = Object.fromEntries(
    Object.entries(databaseUrls).map(([name, connectionString]) => [name, new Pool({ connectionString })]),
  );
});

afterAll(async () => {
  await Promise.all(Object.values(pools ?? {}).map((pool) => pool.end()));
  await stack?.stop();
});

function expectOk({ status, body }: ApiResponse): Json {
  if (status > 0 && status < 300) return body;
  throw new Error(`${status} ${JSON.stringify(body)}`);
}

const requestOk = async (...request: Parameters<ApiCall>): Promise<Json> => expectOk(await worker(...request));
const createWorker = (id: string, code: string, rest: object = {}) =>
  requestOk('POST', '/api/workers', { id, name: id, files: [{ path: 'main.py', content: code }], ...rest });
const start = async (id: string, inputs: object = {}): Promise<string> =>
  (await requestOk('POST', `/api/workers/${id}/runs`, { inputs })).run_id;
const waitUntilCompleted = (runId: string): Promise<Json> =>
  waitUntil(
    async () => {
      const run = await requestOk('GET', `/api/runs/${runId}`);
      if (run.status === 'failed') throw new Error(run.error);
      return run.status === 'completed' && run;
    },
    { deadlineMs: 90_000, everyMs: 100, what: `${runId} completes` },
  );

async function rowsNaming(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const [database, pool] of Object.entries(pools)) {
    const { rows } = await pool.query<{ name: string }>(
      // Published events go five minutes later.
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
       AND table_name <> 'published_events'`,
    );
    for (const { name } of rows) {
      const named = await pool.query(`SELECT FROM "${name}" AS r WHERE strpos(r::text, $1) > 0`, [text]);
      if (named.rowCount) found.push(`${database}.${name}: ${named.rowCount}`);
    }
  }
  return found;
}

const objectsNaming = (text: string): string[] =>
  fs
    .readdirSync(stack.objectsDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(stack.objectsDir, path.join(parentPath, name)))
    .filter((key) => key.includes(text));

async function populateWorkspace(): Promise<void> {
  const [{ executors }, table] = [
    stack.parts,
    { name: 'a.csv', content_base64: Buffer.from('a,b').toString('base64') },
  ];
  const inputs = [{ name: 'table', type: 'file' }];
  await requestOk('PUT', '/api/secrets/PLAN', { value: 'careful' });
  await requestOk('POST', '/api/contexts', {
    name: 'notes',
    writeable: true,
    files: [{ path: 'a.txt', content: 'a' }],
  });
  await createWorker('scribe', SCRIBE, { inputs, contexts: ['notes'], secrets: ['PLAN'], trigger: 'webhook' });
  await waitUntilCompleted(await start('scribe', { table }));
  await waitUntil(async () => (await requestOk('GET', '/api/contexts/notes')).version === 2);
  await createWorker('unlucky', UNLUCKY, { retry: { max_attempts: 2, backoff_seconds: 0 } });
  const lost = await start('unlucky');
  await waitUntil(async () => (await requestOk('GET', `/api/runs/${lost}`)).artifacts.length > 0);
  await executors[0]?.kill();
  await executors[0]?.start();
  expect((await waitUntilCompleted(lost)).output).toEqual({ result: 2 });
  const manifest = { name: 'Tabulate', inputs };
  const { id } = await deployAutomation(automation, { 'main.py': TABULATE }, manifest);
  const ran = expectOk(await automation('POST', `/api/automations/${id}/run`, { inputs: { table }, wait: 10 }));
  expect(ran).toMatchObject({ status: 'success' });
  expectOk(await skills('POST', '/api/v1/skills', { title: 'Notes', body_md: '# Notes', visibility: 'private' }));
}

test('a purged workspace leaves nothing behind, whatever was done in it', async () => {
  const { id } = await requestOk('POST', '/api/workspaces', { name: 'Short-lived' });
  await requestOk('POST', `/api/workspaces/${id}/select`);
  await populateWorkspace();
  const [rows, objects] = [await rowsNaming(id), objectsNaming(id)];
  expect(new Set(rows.map((row) => row.split('.')[0]))).toEqual(new Set(Object.keys(pools)));
  expect(objects.filter((key) => key.includes('/inputs/'))).toHaveLength(2);
  expect(objects.length).toBeGreaterThan(8);

  await requestOk('DELETE', `/api/workspaces/${id}`);
  // A week lies between hearing of the deletion and of the purge: they never arrive in the other order.
  const hasHeard = async (pool: Pool) =>
    (await pool.query('SELECT FROM workspace_closures WHERE workspace_id = $1', [id])).rowCount;
  await waitUntil(async () => (await Promise.all(Object.values(pools).map(hasHeard))).every(Boolean));
  await pools.worker?.query("UPDATE workspaces SET deleted_at = deleted_at - interval '8 days' WHERE id = $1", [id]);
  await pools.worker?.query(
    "UPDATE workspace_closures SET purge_at = purge_at - interval '8 days' WHERE workspace_id = $1",
    [id],
  );
  // Housekeeping begins with its process.
  const [workerApi] = stack.parts.workerApis;
  await workerApi?.stop();
  await workerApi?.start();
  await waitUntil(async () => (await rowsNaming(id)).length === 0, { everyMs: 500 }).catch(() => {});
  expect(await rowsNaming(id)).toEqual([]);
  expect(objectsNaming(id)).toEqual([]);
});
