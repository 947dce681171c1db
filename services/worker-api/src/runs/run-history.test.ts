import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '@gantry/events';
import { SCAN_MAX } from '@gantry/run-engine';
import { type FakeEvent, setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import type request from 'supertest';
import { createCaller } from '../test/caller';
import { addVersion, createTestWorker, type MadeWorker } from '../test/create-test-worker';
import { testWorkerApi } from '../test/test-worker-api';

const NOW = new Date('2026-03-10T12:34:56.000Z');

const api = testWorkerApi({ now: () => NOW });
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

interface Seed {
  worker: MadeWorker;
  status?: string;
  trigger?: string;
  at?: Date;
  durationMs?: number;
  error?: object;
  costUsd?: number;
  id?: string;
}

/** A run as if it had happened then. */
async function seed({ worker, status = 'completed', at = NOW, durationMs = 1_000, ...rest }: Seed): Promise<string> {
  const id = rest.id ?? newId('run_');
  await api.database.pool.query(
    `INSERT INTO runs (id, workspace_id, subject_id, subject_ref, kind, trigger, version, status, attempt, inputs, spec, error,
       cost_usd, created_at, available_at, started_at, finished_at)
     VALUES ($1, $2, $3, $4, 'run', $5, 1, $6, 1, '{}', '{"files":[]}', $7, $8, $9, $9, $9, $10)`,
    [
      ...[id, api.workspaceId, worker.uid, worker.id, rest.trigger ?? 'api', status],
      ...[rest.error ? JSON.stringify(rest.error) : null, rest.costUsd ?? 0, at, new Date(at.getTime() + durationMs)],
    ],
  );
  return id;
}

const ago = (ms: number) => new Date(NOW.getTime() - ms);
const DAY = 86_400_000;
const listIds = (answer: { body: { id: string }[] }) => answer.body.map(({ id }) => id);
const start = async (worker: MadeWorker, inputs = {}): Promise<string> =>
  (await me.post(`/api/workers/${worker.id}/runs`, { inputs }).expect(201)).body.run_id;
const becomes = (id: string, status: string) =>
  waitUntil(async () => {
    const { body } = await me.get(`/api/runs/${id}`).expect(200);
    return body.status === status && body;
  });

/** A run that the executor has reported all of. */
async function ran(worker: MadeWorker, ...events: FakeEvent[]): Promise<string> {
  const id = await start(worker);
  const job = await executor.claimJob();
  await job.report({ type: 'started' }, ...events);
  await job.report({ type: 'finished', status: 'completed', output: { done: true }, usage: zeroUsage });
  await becomes(id, 'completed');
  return id;
}

const line = (text: string, level: 'info' | 'warning' | 'error' = 'info'): FakeEvent => ({
  type: 'log',
  stream: 'stdout',
  level,
  text,
});

describe('lists', () => {
  test('a cursor through equal timestamps loses and repeats nothing, whatever the page', async () => {
    const worker = await createTestWorker(api);
    const all: string[] = [];
    for (let n = 0; n < 23; n++) all.push(await seed({ worker, at: ago(n < 12 ? 5_000 : 6_000) }));
    for (const limit of [1, 5, 22, 23]) {
      const seen: string[] = [];
      let query = `limit=${limit}`;
      for (;;) {
        const page = await me.get(`/api/workers/${worker.id}/runs?${query}`).expect(200);
        seen.push(...listIds(page));
        if (page.headers['x-has-more'] === 'false') break;
        const next = page.headers.link?.match(/<([^>]+)>/)?.[1] as string;
        expect(next).toContain(encodeURIComponent(page.headers['x-next-before-created-at'] as string));
        query = next.slice(next.indexOf('?') + 1);
      }
      expect(seen).toHaveLength(23);
      expect([...seen].sort()).toEqual([...all].sort());
    }
    const second = await me.get(`/api/workers/${worker.id}/runs?limit=5&offset=5&count=true`).expect(200);
    const first = await me.get(`/api/workers/${worker.id}/runs?limit=10`).expect(200);
    expect(listIds(second)).toEqual(listIds(first).slice(5));
    expect(second.headers['x-total-count']).toBe('23');
    expect(first.headers['x-total-count']).toBeUndefined();
  });

  test('filters combine, and queued includes runs that wait without a process', async () => {
    const [worker, other] = [await createTestWorker(api), await createTestWorker(api)];
    const byHook = await seed({ worker, trigger: 'webhook', at: ago(1 * DAY) });
    const failed = await seed({ worker, status: 'failed', at: ago(2 * DAY) });
    const sleeping = await seed({ worker, status: 'suspended', at: ago(3 * DAY) });
    const queued = await seed({ worker, status: 'queued', trigger: 'schedule', at: ago(4 * DAY) });
    await seed({ worker: other, status: 'failed', at: ago(2 * DAY) });
    const list = async (query: string) =>
      listIds(await me.get(`/api/runs?worker_id=${worker.id}&${query}`).expect(200));
    expect(await list('')).toEqual([byHook, failed, sleeping, queued]);
    expect(await list('status=failed')).toEqual([failed]);
    expect(await list('status=queued')).toEqual([sleeping, queued]);
    expect(await list('status=queued&trigger=schedule')).toEqual([queued]);
    expect(await list('trigger=webhook')).toEqual([byHook]);
    expect(await list('status=running')).toEqual([]);
    expect(await list(`since=${ago(3 * DAY).toISOString()}&until=${ago(1 * DAY).toISOString()}`)).toEqual([
      failed,
      sleeping,
    ]);
    await api.database.pool.query("DELETE FROM runs WHERE status IN ('queued', 'suspended')");
  });

  test('are found by a tag and by a part of the name of workers, few or many, that the caller sees', async () => {
    const [tagged, named, hidden] = [
      await createTestWorker(api),
      await createTestWorker(api),
      await createTestWorker(api, { visibility: 'private', ownerId: 'usr_somebody' }),
    ];
    const { worker: workers } = api.deps.prisma;
    for (const { uid } of [tagged, hidden]) await workers.update({ where: { uid }, data: { tags: ['finance'] } });
    await workers.update({ where: { uid: named.uid }, data: { name: 'Half_price', tags: ['shop'] } });
    const done = await seed({ worker: tagged, at: ago(2_000) });
    const failed = await seed({ worker: tagged, at: ago(1_000), status: 'failed' });
    const other = await seed({ worker: named });
    await seed({ worker: hidden });
    const member = createCaller(api.url, (await api.addMember('member')).jwt);
    const list = async (query: string) => listIds(await member.get(`/api/runs?${query}`).expect(200));
    expect(await list('tag=finance')).toEqual([failed, done]);
    expect(await list('tag=finance&status=failed')).toEqual([failed]);
    expect(await list('tag=Finance')).toEqual([]);
    expect(await list('q=f_pri')).toEqual([other]);
    expect(await list(`q=${tagged.id}`)).toEqual([failed, done]);
    expect(await list(`q=f_pri&worker_id=${tagged.id}`)).toEqual([]);
    const rows = (await member.get('/api/runs/export.csv?tag=finance').expect(200)).text.trim().split('\n');
    expect(rows.map((row) => row.split(',')[0])).toEqual(['id', failed, done]);
    // More than are walked one by one.
    for (let n = 0; n < 41; n++) {
      const { uid } = await createTestWorker(api);
      await workers.update({ where: { uid }, data: { tags: ['finance'] } });
    }
    expect(await list('tag=finance')).toEqual([failed, done]);
  });

  test('a page that reached its scan limit is short, and its cursor continues', async () => {
    const worker = await createTestWorker(api);
    const rare = await seed({ worker, trigger: 'event', at: ago(30 * DAY) });
    await api.database.pool.query(
      `INSERT INTO runs (id, workspace_id, subject_id, kind, trigger, status, inputs, spec, created_at)
       SELECT 'run_skipped' || n, $1, $2, 'run', 'api', 'completed', '{}', '{}', $3::timestamptz - make_interval(secs => n)
       FROM generate_series(1, $4) n`,
      [api.workspaceId, worker.uid, NOW, SCAN_MAX + 10],
    );
    const first = await me.get(`/api/runs?worker_id=${worker.id}&trigger=event`).expect(200);
    expect([first.body, first.headers['x-has-more']]).toEqual([[], 'true']);
    const { 'x-next-before-created-at': at, 'x-next-before-id': id } = first.headers;
    const cursor = new URLSearchParams({ before_created_at: String(at), before_id: String(id) });
    const second = await me.get(`/api/runs?worker_id=${worker.id}&trigger=event&${cursor}`).expect(200);
    expect([listIds(second), second.headers['x-has-more']]).toEqual([[rare], 'false']);
    await api.database.pool.query('DELETE FROM runs WHERE subject_id = $1', [worker.uid]);
  });

  test.each([
    ['limit=201', 'limit'],
    ['limit=0', 'limit'],
    ['limit=ten', 'limit'],
    ['offset=10001', 'offset'],
    ['before_id=run_x', 'before_created_at'],
    ['before_created_at=2026-01-01T00:00:00Z', 'before_id'],
    ['before_created_at=yesterday&before_id=run_x', 'before_created_at'],
    ['status=done', 'status'],
    ['trigger=magic', 'trigger'],
    ['since=yesterday', 'since'],
    ['since=2016-12-31T23:59:60Z', 'since'],
    ['before_created_at=2016-12-31T23:59:60Z&before_id=run_x', 'before_created_at'],
    ['sort=asc', 'sort'],
  ])('%s is a 400 that names %s', async (query, path) => {
    const { body } = await me.get(`/api/runs?${query}`).expect(400);
    expect(JSON.stringify(body)).toContain(path);
  });
});

test('the export contains every run that the filters find, and no formula', async () => {
  const worker = await createTestWorker(api);
  for (let n = 0; n < 3; n++) await seed({ worker, at: ago(n * 1_000) });
  const error = { code: 'exception', message: '=HYPERLINK("http://x"), "quoted"\nand more' };
  const failed = await seed({ worker, status: 'failed', error, at: ago(DAY) });
  const all = await me.get(`/api/runs/export.csv?worker_id=${worker.id}`).expect(200);
  expect(all.headers['content-disposition']).toContain('runs.csv');
  expect(all.text.split('\r\n')).toHaveLength(1 + 4 + 1);
  expect(all.text).toMatch(/^id,worker_id,worker_version,status,trigger,/);
  const { text } = await me.get(`/api/runs/export.csv?worker_id=${worker.id}&status=failed`).expect(200);
  expect(text).toContain(`"'=HYPERLINK(""http://x""), ""quoted""\nand more"`);
  expect(text).toContain(`${failed},${worker.id},1,failed,api,1,0,2026-03-09T12:34:56.000Z`);
  await me.get('/api/runs/export.csv?status=done').expect(400);
});

describe('logs', () => {
  /** All pages, from this one on, as their Link leads. */
  async function followStream(path: string): Promise<{ text: string }[]> {
    const { body, headers } = await me.get(path).expect(200);
    const [, next] = /<([^>]*)>; rel="next"/.exec(headers.link ?? '') ?? [];
    return next === undefined ? body : [...body, ...(await followStream(next))];
  }

  let worker: MadeWorker;
  let runId: string;
  beforeAll(async () => {
    worker = await createTestWorker(api);
    runId = await ran(
      worker,
      line('reading Straße'),
      { type: 'log', stream: 'context', level: 'warning', text: 'row 7 is odd', fields: { row: 7 } },
      line('NUL \u0000 inside', 'error'),
    );
  });

  test('come in order, by level and by text, and a page at a time', async () => {
    const list = async (query = '') => (await me.get(`/api/runs/${runId}/logs?${query}`).expect(200)).body;
    expect(await list()).toMatchObject([
      { seq: 1_000_002, attempt: 1, level: 'info', stream: 'stdout', text: 'reading Straße', fields: null },
      { level: 'warning', stream: 'context', text: 'row 7 is odd', fields: { row: 7 } },
      { level: 'error', text: 'NUL \u0000 inside' },
    ]);
    expect(await list('level=warning')).toHaveLength(2);
    expect(await list('search=ROW')).toMatchObject([{ text: 'row 7 is odd' }]);
    const page = await me.get(`/api/runs/${runId}/logs?limit=2`).expect(200);
    expect([page.headers['x-has-more'], page.headers['x-next-after']]).toEqual(['true', '1000003']);
    expect(await list('after=1000003')).toMatchObject([{ level: 'error' }]);
    expect(await list('offset=1&limit=1')).toMatchObject([{ text: 'row 7 is odd' }]);
    expect(await followStream(`/api/runs/${runId}/logs?limit=1&offset=1`)).toMatchObject([
      { text: 'row 7 is odd' },
      { level: 'error' },
    ]);
    await me.get(`/api/runs/${runId}/logs?level=loud`).expect(400);
  });

  test('come as text', async () => {
    const { text, headers } = await me.get(`/api/runs/${runId}/logs?format=text`).expect(200);
    expect(headers['content-type']).toContain('text/plain');
    expect(text.split('\n')[1]).toMatch(/^\S+Z warning row 7 is odd$/);
  });

  test('are searched over all runs of a worker, newest first, and continue at the cursor', async () => {
    const later = await ran(worker, line('row 8 is odd'), line('fine'));
    const search = async (query: string) => me.get(`/api/workers/${worker.id}/logs?${query}`).expect(200);
    expect((await search('q=odd')).body).toMatchObject([
      { run_id: later, text: 'row 8 is odd' },
      { run_id: runId, text: 'row 7 is odd' },
    ]);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await search(`limit=2${cursor}`);
      seen.push(...page.body.map(({ text }: { text: string }) => text));
      cursor = page.headers['x-next-cursor'] ? `&cursor=${page.headers['x-next-cursor']}` : '';
    } while (cursor);
    expect(seen).toEqual(['fine', 'row 8 is odd', 'NUL \u0000 inside', 'row 7 is odd', 'reading Straße']);
    expect((await search('level=error')).body).toHaveLength(1);
    const path = `/api/workers/${worker.id}/logs?limit=2&offset=1`;
    expect((await followStream(path)).map(({ text }) => text)).toEqual(seen.slice(1));
    expect((await me.get(`/api/workers/${worker.id}/logs?cursor=AAAA`).expect(400)).body.errors[0].path).toBe('cursor');
  });
});

describe('files', () => {
  test('a file of a run is an attachment that executes nothing, and the zip contains all its files', async () => {
    const worker = await createTestWorker(api);
    const id = await start(worker);
    const job = await executor.claimJob();
    const artifact = async (name: string, content: string): Promise<FakeEvent> => {
      const key = `${api.workspaceId}/runs/${id}/1/${newId('')}`;
      await api.deps.objects.put(key, Buffer.from(content));
      const size = Buffer.byteLength(content);
      const contentType = name.endsWith('html') ? 'text/html' : 'nonsense\u00e9';
      return { type: 'artifact', artifactId: newId('art_'), name, contentType, size, sha256: 'a'.repeat(64), key };
    };
    await job.report(
      { type: 'started' },
      line('hello'),
      await artifact('../evil/report.html', '<script>'),
      await artifact('data.bin', 'one'),
      await artifact('data.bin', 'two'),
    );
    await job.report({ type: 'finished', status: 'completed', output: { total: 3 }, usage: zeroUsage });
    const { artifacts } = await becomes(id, 'completed');
    const page = artifacts.find(({ name }: { name: string }) => name.includes('report'));
    const file = await me.get(page.download_url).expect(200);
    expect(file.text).toBe('<script>');
    expect(file.headers).toMatchObject({
      'content-type': 'text/html',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
      'content-disposition': expect.stringContaining('attachment'),
    });
    await me.get(`/api/runs/${id}/artifacts/art_unknown/download`).expect(404);

    const zip = await me.get(`/api/runs/${id}/download`).buffer(true).parse(binary).expect(200);
    const text = zip.body.toString('latin1');
    for (const name of [
      'output.json',
      'logs.txt',
      'artifacts/__evil_report.html',
      'artifacts/data.bin',
      'artifacts/data (2).bin',
    ]) {
      expect(text).toContain(name);
    }
    expect(text).not.toContain('../');
  });
});

const binary = (res: request.Response, done: (err: Error | null, body: Buffer) => void) => {
  const chunks: Buffer[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: superagent hands the response stream itself
  (res as any).on('data', (chunk: Buffer) => chunks.push(chunk));
  // biome-ignore lint/suspicious/noExplicitAny: superagent hands the response stream itself
  (res as any).on('end', () => done(null, Buffer.concat(chunks)));
};

describe('replaying', () => {
  test('repeats inputs and files with the current code, or with the original', async () => {
    const definition = { inputs: [{ name: 'table', type: 'file' }, 'note'] };
    const worker = await createTestWorker(api, { definition });
    const table = { name: 't.csv', content_base64: Buffer.from('a,b').toString('base64') };
    const id = await start(worker, { table, note: 'n' });
    expect((await me.post(`/api/runs/${id}/replay`).expect(409)).body.code).toBe('not_ended');
    await (await executor.claimJob()).complete({});
    await becomes(id, 'completed');
    await addVersion(api, worker, { number: 2, definition });
    const replay = async (body?: object) => (await me.post(`/api/runs/${id}/replay`, body).expect(201)).body.run_id;
    for (const [body, version] of [
      [undefined, 2],
      [{ version: 'same' }, 1],
    ] as const) {
      const again = await replay(body);
      const job = await executor.claimJob();
      expect(job).toMatchObject({ runId: again, inputs: { table: { name: 't.csv', size: 3 }, note: 'n' } });
      expect(await (await fetch(job.files[0]?.url ?? '')).text()).toBe('a,b');
      await job.complete({});
      expect(await becomes(again, 'completed')).toMatchObject({
        trigger: 'replay',
        parent_run_id: id,
        worker_version: version,
      });
    }
    const changed = await replay({ inputs: { table: { name: 't.csv', size: 3 }, note: 'other' } });
    const job = await executor.claimJob();
    expect(job).toMatchObject({ runId: changed, inputs: { table: { name: 't.csv', size: 3 }, note: 'other' } });
    expect(await (await fetch(job.files[0]?.url ?? '')).text()).toBe('a,b');
    const unknown = await me.post(`/api/runs/${id}/replay`, { inputs: { note: 'n', nots: 'n' } }).expect(400);
    expect(unknown.body.errors).toEqual([expect.objectContaining({ path: 'inputs.nots' })]);
    await addVersion(api, worker, { number: 3, definition: { inputs: [{ name: 'other', required: true }] } });
    const refused = await me.post(`/api/runs/${id}/replay`).expect(400);
    expect(refused.body.errors).toEqual([{ path: 'inputs.other', message: 'is required' }]);
  });
});

describe('bulk operations', () => {
  test('runs are cancelled by filter or by id, and those that cannot be are reported', async () => {
    const [worker, other] = [await createTestWorker(api), await createTestWorker(api)];
    const ids = [await start(worker), await start(worker), await start(other)];
    const done = await seed({ worker });
    const cancel = async (body: object) => (await me.post('/api/runs/bulk/cancel', body).expect(200)).body;
    const filter = { worker_id: worker.id };
    expect(await cancel({ filter })).toEqual({ matched: 2, changed: 2, skipped: 0, more: false, errors: [] });
    const mixed = await cancel({ ids: [ids[2], done, 'run_unknown'] });
    expect(mixed).toMatchObject({ matched: 3, changed: 1, skipped: 2, more: false });
    expect(mixed.errors.map(({ code }: { code: string }) => code).sort()).toEqual(['already_ended', 'not_found']);
    for (const id of ids) await becomes(id, 'cancelled');
    const stranger = createCaller(api.url, api.foreign.owner.jwt);
    const foreign = await stranger.post('/api/runs/bulk/replay', { ids }).expect(200);
    expect(foreign.body).toMatchObject({
      changed: 0,
      skipped: 3,
      run_ids: [],
      errors: [{ code: 'not_found' }, {}, {}],
    });
  });

  test('failed runs are replayed by filter, oldest first', async () => {
    const worker = await createTestWorker(api);
    const older = await seed({ worker, status: 'failed', at: ago(3_000) });
    const newer = await seed({ worker, status: 'timed_out', at: ago(2_000) });
    await seed({ worker, status: 'completed', at: ago(1_000) });
    const { body } = await me.post('/api/runs/bulk/replay', { filter: { worker_id: worker.id } }).expect(200);
    expect(body).toMatchObject({ matched: 2, changed: 2, skipped: 0, more: false });
    const parents = [];
    for (const id of body.run_ids) parents.push((await me.get(`/api/runs/${id}`).expect(200)).body.parent_run_id);
    expect(parents.sort()).toEqual([older, newer].sort());
    await me.post('/api/runs/bulk/cancel', { ids: body.run_ids }).expect(200);
  });

  test.each([
    [{}, 'cancel'],
    [{ ids: ['run_x'], filter: {} }, 'cancel'],
    [{ ids: [] }, 'cancel'],
    [{ ids: Array.from({ length: 1_001 }, (_, n) => `run_${n}`) }, 'cancel'],
    [{ filter: { status: 'completed' } }, 'cancel'],
    [{ filter: { status: 'running' } }, 'replay'],
    [{ filter: { owner: 'me' } }, 'replay'],
  ])('%j is refused for %s', async (body, verb) => {
    await me.post(`/api/runs/bulk/${verb}`, body).expect(400);
  });
});

describe('figures', () => {
  test('stats match a count by hand', async () => {
    const worker = await createTestWorker(api);
    for (const durationMs of [100, 200, 300, 400]) await seed({ worker, durationMs, at: ago(DAY), costUsd: 0.5 });
    await seed({ worker, durationMs: 10_000, at: ago(20 * DAY), costUsd: 1 });
    const timeout = { code: 'timeout', message: 'took too long' };
    const exception = { code: 'exception', message: 'last \u0000 words', type: 'ValueError' };
    await seed({ worker, status: 'timed_out', at: ago(10 * DAY), error: timeout });
    await seed({ worker, status: 'failed', at: ago(2 * DAY), error: exception, durationMs: 60_000 });
    await seed({ worker, status: 'cancelled', at: ago(DAY) });
    await seed({ worker, status: 'failed', at: ago(40 * DAY), error: exception });
    const { body } = await me.get(`/api/workers/${worker.id}/stats`).expect(200);
    expect(body).toEqual({
      worker_id: worker.id,
      runs_total: 9,
      runs_7d: 6,
      runs_30d: 8,
      // 4 of 4 + 1; 5 of 5 + 2.
      success_rate_7d: 0.8,
      success_rate_30d: 0.7143,
      avg_duration_ms: 2_200,
      p50_duration_ms: 300,
      p95_duration_ms: 10_000,
      total_cost_usd_30d: 3,
      failures_by_code: { timeout: 1, exception: 1 },
      last_error: 'last \u0000 words',
      last_error_at: ago(2 * DAY - 60_000).toISOString(),
    });
    const fresh = await createTestWorker(api);
    expect((await me.get(`/api/workers/${fresh.id}/stats`).expect(200)).body).toMatchObject({
      runs_total: 0,
      success_rate_7d: null,
      p95_duration_ms: null,
      total_cost_usd_30d: 0,
      failures_by_code: {},
    });
  });

  test('the series has every day and hour of UTC, also those without runs', async () => {
    const worker = await createTestWorker(api);
    await seed({ worker, at: new Date('2026-03-10T00:00:00.000Z'), costUsd: 0.25, durationMs: 500 });
    await seed({ worker, at: new Date('2026-03-09T23:59:59.999Z'), status: 'failed' });
    await seed({ worker, at: new Date('2026-02-24T23:59:59.999Z') });
    const series = async (query: string) =>
      (await me.get(`/api/workers/${worker.id}/runs/timeseries?${query}`).expect(200)).body;
    const days = await series('days=14');
    expect(days).toHaveLength(14);
    expect(days.slice(-2)).toEqual([
      {
        start: '2026-03-09T00:00:00.000Z',
        total: 1,
        completed: 0,
        failed: 1,
        cost_usd: 0,
        p50_duration_ms: null,
        p95_duration_ms: null,
      },
      {
        start: '2026-03-10T00:00:00.000Z',
        total: 1,
        completed: 1,
        failed: 0,
        cost_usd: 0.25,
        p50_duration_ms: 500,
        p95_duration_ms: 500,
      },
    ]);
    expect(days[0]).toMatchObject({ start: '2026-02-25T00:00:00.000Z', total: 0 });
    const hours = await series('days=1&bucket=hour');
    expect(hours).toHaveLength(24);
    expect(hours.at(-1).start).toBe('2026-03-10T12:00:00.000Z');
    expect(hours.filter(({ total }: { total: number }) => total)).toHaveLength(2);
    for (const query of ['days=0', 'days=91', 'bucket=week']) {
      await me.get(`/api/workers/${worker.id}/runs/timeseries?${query}`).expect(400);
    }
  });
});

describe('live', () => {
  let server: Server;
  let urls: string[] = [];
  beforeAll(async () => {
    const replica = await api.replica();
    server = createServer(replica.app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    urls = [api.url, `http://127.0.0.1:${(server.address() as AddressInfo).port}`];
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  interface Event {
    id: number;
    event: string;
    data: Record<string, unknown>;
  }

  /** Reads until `enough` says so or the stream ends. */
  async function follow(url: string, last: number, enough: (events: Event[]) => boolean): Promise<Event[]> {
    const stop = new AbortController();
    const headers: Record<string, string> = { Authorization: `Bearer ${api.owner.jwt}`, Accept: 'text/event-stream' };
    if (last) headers['Last-Event-ID'] = String(last);
    const answer = await fetch(url, { headers, signal: stop.signal });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const events: Event[] = [];
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const found = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(block);
        if (found) events.push({ id: Number(found[1]), event: String(found[2]), data: JSON.parse(String(found[3])) });
      }
      if (enough(events)) break;
    }
    stop.abort();
    return events;
  }

  test('a stream through three reconnects on two replicas has each event once and in order', async () => {
    const worker = await createTestWorker(api);
    const id = await start(worker);
    const url = (n: number) => `${urls[n % 2]}/api/runs/${id}/stream`;
    const job = await executor.claimJob();
    await job.report({ type: 'started' });
    const seen: Event[] = [];
    for (let round = 0; round < 4; round++) {
      const reading = follow(url(round), seen.at(-1)?.id ?? 0, (events) => {
        return events.filter(({ event }) => event === 'log').length >= 5;
      });
      for (let n = 0; n < 5; n++) await job.report(line(`${round}.${n}`));
      seen.push(...(await reading));
    }
    const rest = follow(url(4), seen.at(-1)?.id ?? 0, () => false);
    await job.report({ type: 'finished', status: 'completed', output: 1, usage: zeroUsage });
    seen.push(...(await rest));
    const logs = seen.filter(({ event }) => event === 'log').map(({ data }) => data.text);
    expect(logs).toEqual([0, 1, 2, 3].flatMap((round) => [0, 1, 2, 3, 4].map((n) => `${round}.${n}`)));
    const ids = seen.map((event) => event.id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(seen.slice(-2).map(({ event }) => event)).toEqual(['output', 'done']);
  });

  test('each of the three streams describes its purpose, and ends with done', async () => {
    const worker = await createTestWorker(api);
    const id = await ran(worker, line('one'), { type: 'progress', fraction: 0.5, message: 'half' });
    const names = async (path: string) =>
      (await follow(`${api.url}/api/runs/${id}${path}`, 0, () => false)).map(({ event }) => event);
    expect(await names('/stream')).toEqual(['status', 'log', 'progress', 'output', 'done']);
    expect(await names('/events')).toEqual(['status', 'progress', 'output', 'done']);
    expect(await names('/events?logs=true')).toEqual(['status', 'log', 'progress', 'output', 'done']);
    expect(await names('/logs/stream')).toEqual(['log', 'done']);
    const lines = await me.get(`/api/runs/${id}/stream`).set('Accept', 'application/x-ndjson').expect(200);
    expect(lines.headers['content-type']).toContain('application/x-ndjson');
    const stranger = createCaller(api.url, api.foreign.owner.jwt);
    for (const path of ['/stream', '/events', '/logs/stream', '/logs', '/download']) {
      await stranger.get(`/api/runs/${id}${path}`).expect(404);
    }
  });
});
