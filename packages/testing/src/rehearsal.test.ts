/** The whole way of a rehearsal: the code of a run again, against the records of that run. See ADR 48. */
import fs from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { Pool } from 'pg';
import { apiCaller } from './api-caller';
import { makeCa } from './certificates';
import { readEvents } from './event-reader';
import { leaksOf } from './leaks';
import { type Stack, startStack } from './stack';

const TOKEN = 'ghp_97Kx42F292c6912E7710c838347Ae178B4a';

const WRITER = `
import json, os, urllib.error, urllib.request
from gantry import context

# The host of this test is called localhost, which is not asked of a proxy otherwise.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = ""

def run(title):
    github = context.connections["github"]
    def ask(path, body=None):
        headers = {"Authorization": f"Bearer {github.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(github.base_url + path, data, headers), timeout=20) as answer:
            return [answer.status, answer.headers.get("gantry-rehearsal"), json.loads(answer.read())]
    return {"user": ask("/user"), "issue": ask("/issues?from=" + title, {"title": title}), "title": title}
`;

let stack: Stack;
let pool: Pool;
let github: https.Server;
const seen: string[] = [];

beforeAll(async () => {
  const ca = makeCa();
  const { key, cert } = ca.issue('DNS:localhost');
  github = https.createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) }, (request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.writeHead(request.method === 'POST' ? 201 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ number: seen.length }));
  });
  await new Promise<void>((resolve) => github.listen(0, '127.0.0.1', resolve));
  const env = { NODE_EXTRA_CA_CERTS: ca.file, EGRESS_ALLOW_PRIVATE: '127.0.0.1/32' };
  stack = await startStack({ env });
  pool = new Pool({ connectionString: stack.databaseUrls.worker });
  pool.on('error', () => {});
});

afterAll(async () => {
  await pool?.end();
  await stack?.stop();
  github?.closeAllConnections();
  github?.close();
});

async function ended(id: string) {
  await readEvents({
    ...{ urls: stack.workerUrls, token: stack.token, format: 'ndjson', breaks: [] },
    path: `/api/runs/${id}/stream`,
  });
  const call = apiCaller(stack.workerUrls[0] as string, stack.token);
  return (await call('GET', `/api/runs/${id}`)).body;
}

/** As rehearse() queues one of that run. @returns its id */
async function rehearse(of: string, inputs: object): Promise<string> {
  const { rows } = await pool.query(
    `INSERT INTO runs (id, workspace_id, subject_id, subject_ref, kind, trigger, version, status, priority, inputs, spec, runner)
     SELECT 'tr_' || substr(id, 5, 20) || $3, workspace_id, subject_id, subject_ref, 'test', 'rehearsal', version, 'queued', -50,
       $2::json, (spec::jsonb || jsonb_build_object('rehearsal', jsonb_build_object('of', id)))::json, runner
     FROM runs WHERE id = $1 RETURNING id`,
    [of, JSON.stringify(inputs), Object.values(inputs)[0]],
  );
  return rows[0].id;
}

test('code that posts with a connection posts once, and its rehearsals post nothing', async () => {
  const call = apiCaller(stack.workerUrls[0] as string, stack.token);
  const hosts = [`localhost:${(github.address() as AddressInfo).port}`];
  const connection = { kind: 'api_key', app: 'github', label: 'Team', visibility: 'workspace', value: TOKEN, hosts };
  expect(await call('POST', '/api/connections', connection)).toMatchObject({ status: 201 });
  const files = [{ path: 'main.py', content: WRITER }];
  const worker = { id: 'writer', name: 'Writer', files, connections: ['github'] };
  expect(await call('POST', '/api/workers', worker)).toMatchObject({ status: 201 });
  const { body } = await call('POST', '/api/workers/writer/runs', { inputs: { title: 'a' } });
  const run = await ended(body.run_id);
  const output = { user: [200, null, { number: 1 }], issue: [201, null, { number: 2 }], title: 'a' };
  expect(run).toMatchObject({ status: 'completed', output });

  const rehearsal = await ended(await rehearse(run.id, { title: 'a' }));
  expect(rehearsal).toMatchObject({
    ...{ status: 'completed', trigger: 'rehearsal' },
    output: { user: [200, null, { number: 3 }], issue: [201, 'recorded', { number: 2 }] },
  });
  const other = await ended(await rehearse(run.id, { title: 'b' }));
  expect(other).toMatchObject({ status: 'failed', error: expect.stringContaining('403') });
  const requests = JSON.parse((await call('GET', `/api/runs/${other.id}/requests`)).body);
  expect(requests).toMatchObject([
    { method: 'GET', status: 200, credentials: ['github'] },
    { method: 'POST', problem: { kind: 'refused', message: expect.stringContaining('POST /issues was not recorded') } },
  ]);
  expect(seen).toEqual([
    `GET /user Bearer ${TOKEN}`,
    `POST /issues?from=a Bearer ${TOKEN}`,
    `GET /user Bearer ${TOKEN}`,
    `GET /user Bearer ${TOKEN}`,
  ]);
  const told = JSON.stringify([run, rehearsal, other, requests]) + stack.output();
  expect(leaksOf(TOKEN, told)).toEqual([]);
});
