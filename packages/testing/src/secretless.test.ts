/**
 * The whole way of a credential that code uses and does not have (ADR 43), and of rehearsals against the records of a
 * run (ADR 48).
 */
import fs from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Pool } from 'pg';
import { createApiClient } from './api-client';
import { createCa } from './certificates';
import { dumpTables, findLeaks } from './find-leaks';
import { readEvents } from './read-events';
import { type Stack, startStack } from './stack';
import { waitUntil } from './wait-until';

const TOKEN = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';

/** A GitHub that repeats what it was sent, as a service may do in an error. */
const READER = `
import json, os, ssl, urllib.error, urllib.request
from gantry import context

# The hosts of this test are called localhost, which is not asked of a proxy otherwise.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = ""

def run(other):
    github = context.connections["github"]
    def get(base, path, trust=None):
        headers = {"Authorization": f"Bearer {github.token}"}
        try:
            answer = urllib.request.urlopen(urllib.request.Request(base + path, headers=headers), timeout=20, context=trust)
        except urllib.error.HTTPError as error:
            answer = error
        return [answer.status, json.loads(answer.read())]
    print("with", github.token, github, dict(os.environ))
    user = get(github.base_url, "/user")
    missing = get(github.base_url, "/missing?token=" + github.token)
    try:
        undeclared = get(github.base_url, "/missing?other=" + github.token)
    except json.JSONDecodeError as error:
        undeclared = error.doc
    elsewhere = get(other, "/user", ssl._create_unverified_context())
    context.artifact("answers.json", json.dumps([user, missing]).encode())
    return {"user": user, "missing": missing, "undeclared": undeclared, "elsewhere": elsewhere}
`;

let stack: Stack;
let pool: Pool;
let github: https.Server;
let elsewhere: https.Server;
let tracker: https.Server;
/** Requests that each server has received, in order. */
const seen: Record<'github' | 'elsewhere', { url: string; headers: IncomingHttpHeaders }[]> = {
  github: [],
  elsewhere: [],
};
const askedOfTracker: string[] = [];
beforeEach(() => {
  for (const requests of Object.values(seen)) requests.length = 0;
});

beforeAll(async () => {
  const ca = createCa();
  const { key, cert } = ca.issue('DNS:localhost');
  const tls = { key: fs.readFileSync(key), cert: fs.readFileSync(cert) };
  const listening = async (name: keyof typeof seen) => {
    const server = https.createServer(tls, ({ url = '', headers }, response) => {
      seen[name].push({ url, headers });
      const status = url === '/user' ? 200 : 404;
      response.writeHead(status, { 'content-type': 'application/json', 'x-sent': headers.authorization ?? '' });
      response.end(JSON.stringify({ url, authorization: headers.authorization }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  };
  [github, elsewhere] = [await listening('github'), await listening('elsewhere')];
  tracker = https.createServer(tls, ({ method, url, headers }, response) => {
    askedOfTracker.push(`${method} ${url} ${headers.authorization}`);
    response.writeHead(method === 'POST' ? 201 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ number: askedOfTracker.length }));
  });
  await new Promise<void>((resolve) => tracker.listen(0, '127.0.0.1', resolve));
  const env = { NODE_EXTRA_CA_CERTS: ca.file, EGRESS_ALLOW_PRIVATE: '127.0.0.1/32' };
  stack = await startStack({ env });
  pool = new Pool({ connectionString: stack.databaseUrls.worker });
  pool.on('error', () => {});
});

afterAll(async () => {
  await pool?.end();
  await stack?.stop();
  for (const server of [github, elsewhere, tracker]) {
    server?.closeAllConnections();
    server?.close();
  }
});

const getHost = (server: https.Server) => `localhost:${(server.address() as AddressInfo).port}`;

test('a run reads from GitHub with a token that is nowhere but in the request', async () => {
  const call = createApiClient(stack.workerUrls[0] as string, stack.token);
  const connection = {
    kind: 'api_key',
    app: 'github',
    label: 'Team',
    visibility: 'workspace',
    value: TOKEN,
    hosts: [getHost(github)],
    places: ['header', 'query:token'],
  };
  expect(await call('POST', '/api/connections', connection)).toMatchObject({ status: 201 });
  const files = [{ path: 'main.py', content: READER }];
  const worker = { id: 'reader', name: 'Reader', files, connections: ['github'] };
  expect(await call('POST', '/api/workers', worker)).toMatchObject({ status: 201 });

  const inputs = { other: `https://${getHost(elsewhere)}` };
  const started = await call('POST', '/api/workers/reader/runs', { inputs });
  const { run_id: id } = started.body;
  const events = await readEvents({
    urls: stack.workerUrls,
    token: stack.token,
    format: 'ndjson',
    breaks: [],
    path: `/api/runs/${id}/stream`,
  });
  const { body: run } = await call('GET', `/api/runs/${id}`);

  const placeholder = expect.stringMatching(/^Bearer gph_[A-Za-z0-9]{32}$/);
  expect(run).toMatchObject({
    error: null,
    status: 'completed',
    output: {
      user: [200, { url: '/user', authorization: placeholder }],
      missing: [404, { url: expect.stringMatching(/^\/missing\?token=gph_/), authorization: placeholder }],
      undeclared:
        'localhost: the connection github is not allowed in the query of requests; to allow it there, add query:other to the places of the connection\n',
      elsewhere: [200, { authorization: placeholder }],
    },
  });
  const sent = seen.github.map(({ url, headers }) => [url, headers.authorization]);
  expect(sent).toEqual([
    ['/user', `Bearer ${TOKEN}`],
    [`/missing?token=${TOKEN}`, `Bearer ${TOKEN}`],
  ]);
  expect(seen.elsewhere.map(({ headers }) => headers.authorization)).toEqual([placeholder]);
  const requests = events.filter(({ type }) => type === 'request').map(({ data }) => data);
  expect(requests).toMatchObject([
    { method: 'GET', host: 'localhost', path: '/user', status: 200, credentials: ['github'] },
    { method: 'GET', host: 'localhost', path: '/missing', status: 404, credentials: ['github'], echoed: 3 },
    { method: 'GET', host: 'localhost', path: '/missing', credentials: [], problem: { kind: 'refused' } },
    { method: null, host: 'localhost', path: null, credentials: [] },
  ]);

  const logs = await call('GET', `/api/runs/${id}/logs`);
  const told = JSON.stringify([started.body, events, run, logs.body, (await call('GET', '/api/connections')).body]);
  expect(told).toContain('gph_');
  const places = {
    told,
    rows: await dumpTables(pool),
    services: stack.output(),
    objects: filesUnder(stack.objectsDir),
    // The event of its end is written a moment after the run is read.
    messages: await waitUntil(() => [filesUnder(stack.parts.nats.storeDir)].find((text) => text.includes(id))),
  };
  for (const [place, text] of Object.entries(places)) expect([place, findLeaks(TOKEN, text)]).toEqual([place, []]);
  expect(places.objects).toContain('gph_');
});

/** Sends what is in the variable, and says no more of it than its length. */
const SENDER = `
import os, ssl, urllib.request

os.environ["no_proxy"] = os.environ["NO_PROXY"] = ""

def run(base):
    token = os.environ["GITHUB_TOKEN"]
    print("with", token)
    request = urllib.request.Request(base + "/user", headers={"Authorization": f"Bearer {token}"})
    # A tunnel in which nothing is put in shows the certificate of the host, whose authority only this test knows.
    urllib.request.urlopen(request, timeout=20, context=ssl._create_unverified_context()).read()
    return {"length": len(token), "is_placeholder": token.startswith("gph_")}
`;

test('a secret with hosts is a placeholder in its variable, unless its worker exposes it', async () => {
  const call = createApiClient(stack.workerUrls[0] as string, stack.token);
  const secret = { value: TOKEN, hosts: [getHost(github)] };
  expect(await call('PUT', '/api/secrets/GITHUB_TOKEN', secret)).toMatchObject({ status: 201 });
  const files = [{ path: 'main.py', content: SENDER }];
  const worker = { id: 'sender', name: 'Sender', files, secrets: ['GITHUB_TOKEN'] };
  expect(await call('POST', '/api/workers', worker)).toMatchObject({ status: 201 });
  const ran = async () => {
    const inputs = { base: `https://${getHost(github)}` };
    const { body } = await call('POST', '/api/workers/sender/runs', { inputs });
    await readEvents({
      urls: stack.workerUrls,
      token: stack.token,
      format: 'ndjson',
      breaks: [],
      path: `/api/runs/${body.run_id}/stream`,
    });
    const { body: run } = await call('GET', `/api/runs/${body.run_id}`);
    return { run, logs: JSON.stringify((await call('GET', `/api/runs/${body.run_id}/logs`)).body) };
  };

  const held = await ran();
  expect(held.run).toMatchObject({ error: null, output: { length: 36, is_placeholder: true } });
  expect(seen.github.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${TOKEN}`]);
  expect(held.logs).toContain('with gph_');

  expect(await call('PATCH', '/api/workers/sender', { expose: ['GITHUB_TOKEN'] })).toMatchObject({ status: 200 });
  const open = await ran();
  expect(open.run).toMatchObject({ error: null, output: { length: TOKEN.length, is_placeholder: false } });
  expect(seen.github).toHaveLength(2);
  expect(open.logs).toContain('with ***');
  expect(findLeaks(TOKEN, open.logs + JSON.stringify(open.run))).toEqual([]);
});

const TRACKER_TOKEN = 'ghp_97Kx42F292c6912E7710c838347Ae178B4a';

const WRITER = `
import json, os, urllib.error, urllib.request
from gantry import context

os.environ["no_proxy"] = os.environ["NO_PROXY"] = ""

def run(title):
    tracker = context.connections["tracker"]
    def ask(path, body=None):
        headers = {"Authorization": f"Bearer {tracker.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(tracker.base_url + path, data, headers), timeout=20) as answer:
            return [answer.status, answer.headers.get("gantry-rehearsal"), json.loads(answer.read())]
    return {"user": ask("/user"), "issue": ask("/issues?from=" + title, {"title": title}), "title": title}
`;

async function waitUntilEnded(id: string) {
  await readEvents({
    urls: stack.workerUrls,
    token: stack.token,
    format: 'ndjson',
    breaks: [],
    path: `/api/runs/${id}/stream`,
  });
  const call = createApiClient(stack.workerUrls[0] as string, stack.token);
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
  const call = createApiClient(stack.workerUrls[0] as string, stack.token);
  const hosts = [getHost(tracker)];
  const connection = {
    kind: 'api_key',
    app: 'tracker',
    label: 'Team',
    visibility: 'workspace',
    value: TRACKER_TOKEN,
    hosts,
  };
  expect(await call('POST', '/api/connections', connection)).toMatchObject({ status: 201 });
  const files = [{ path: 'main.py', content: WRITER }];
  const worker = { id: 'writer', name: 'Writer', files, connections: ['tracker'] };
  expect(await call('POST', '/api/workers', worker)).toMatchObject({ status: 201 });
  const { body } = await call('POST', '/api/workers/writer/runs', { inputs: { title: 'a' } });
  const run = await waitUntilEnded(body.run_id);
  const output = { user: [200, null, { number: 1 }], issue: [201, null, { number: 2 }], title: 'a' };
  expect(run).toMatchObject({ status: 'completed', output });

  const rehearsal = await waitUntilEnded(await rehearse(run.id, { title: 'a' }));
  expect(rehearsal).toMatchObject({
    status: 'completed',
    trigger: 'rehearsal',
    output: { user: [200, null, { number: 3 }], issue: [201, 'recorded', { number: 2 }] },
  });
  const other = await waitUntilEnded(await rehearse(run.id, { title: 'b' }));
  expect(other).toMatchObject({ status: 'failed', error: expect.stringContaining('403') });
  const requests = JSON.parse((await call('GET', `/api/runs/${other.id}/requests`)).body);
  expect(requests).toMatchObject([
    { method: 'GET', status: 200, credentials: ['tracker'] },
    { method: 'POST', problem: { kind: 'refused', message: expect.stringContaining('POST /issues was not recorded') } },
  ]);
  expect(askedOfTracker).toEqual([
    `GET /user Bearer ${TRACKER_TOKEN}`,
    `POST /issues?from=a Bearer ${TRACKER_TOKEN}`,
    `GET /user Bearer ${TRACKER_TOKEN}`,
    `GET /user Bearer ${TRACKER_TOKEN}`,
  ]);
  const told = JSON.stringify([run, rehearsal, other, requests]) + stack.output();
  expect(findLeaks(TRACKER_TOKEN, told)).toEqual([]);
});

/** As latin1, one after the other. */
const filesUnder = (dir: string): string =>
  fs
    .readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => fs.readFileSync(path.join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
