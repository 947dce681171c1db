/** Lists of a workspace that has as many workers and runs as it may, each as long as it may be. */
import { measureLongestTurn, setupResource } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createTestWorker } from '../test/create-test-worker';
import { testWorkerApi } from '../test/test-worker-api';

const BLOCKED_MS_MAX = 50;
const RUNS = 200;

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const worker = setupResource(() => createTestWorker(api));

beforeAll(async () => {
  const { pool } = api.database;
  await pool.query(
    `INSERT INTO workers (uid, workspace_id, id, name, description, tags, runner, current_version, updated_at)
     SELECT 'wrk_' || n, $1, 'worker-' || n, 'Worker', repeat('long ', 1000),
       ARRAY(SELECT rpad('tag ' || n % 500 || ' ' || t, 50, '-') FROM generate_series(1, 20) t), 'python', 1, now()
     FROM generate_series(1, 9990) n`,
    [api.workspaceId],
  );
  await pool.query(
    `INSERT INTO worker_versions (worker_uid, workspace_id, number, sha, definition, files, code_digest, code_key, code_size, change_source)
     SELECT uid, workers.workspace_id, 1, repeat('a', 64), jsonb_set(first.definition::jsonb, '{secrets}',
         (SELECT jsonb_agg('SECRET_' || s || CASE WHEN s > 1 THEN right(uid, 2) ELSE '' END) FROM generate_series(1, 50) s))::json,
       '[]', first.code_digest, uid, 1, 'created'
     FROM workers, (SELECT * FROM worker_versions WHERE worker_uid = $1) first WHERE workers.uid <> $1`,
    [worker.uid],
  );
  await pool.query(
    `INSERT INTO runs (id, workspace_id, subject_id, subject_ref, kind, trigger, version, status, attempt, inputs, output, spec,
       error, cost_usd, created_at, available_at, started_at, finished_at)
     SELECT 'run_' || n, $1, $2, $3, 'run', 'api', 1, 'completed', 1, json_build_object('text', repeat('a', 500000)),
       json_build_object('text', repeat('b', 120000)), '{"files":[]}', NULL, 0, now(), now(), now(), now()
     FROM generate_series(1, ${RUNS}) n`,
    [api.workspaceId, worker.uid, worker.id],
  );
  await pool.query(
    `INSERT INTO run_events (run_id, seq, at, type, data)
     SELECT 'run_1', n, now(), 'log', json_build_object('stream', 'stdout', 'level', 'info', 'text', repeat('a', 16000),
       'fields', json_build_object('note', repeat('b', 40000)))
     FROM generate_series(1, 1000) n`,
  );
});

const NEEDLE = `b${'a'.repeat(199)}`;

test.each([
  ['/api/workers?limit=200'],
  ['/api/workers?q=long'],
  ['/api/workers/tags'],
  ['/api/secrets/declared'],
  ['/api/secrets'],
  ['/api/runs?q=worker'],
  ['/api/runs?limit=200'],
  ['/api/runs/export.csv?q=worker'],
  ['/api/runs/run_1/logs?limit=1000'],
  ['/api/runs/run_1/logs?format=text'],
  [`/api/runs/run_1/logs?search=${NEEDLE}`],
  ['/api/workers/:id/logs?limit=1000'],
  [`/api/workers/:id/logs?q=${NEEDLE}`],
])('GET %s blocks the event loop for no longer than 50 ms', async (path) => {
  const read = async () => {
    const response = await fetch(api.url + path.replace(':id', worker.id), {
      headers: { authorization: `Bearer ${api.owner.jwt}` },
    });
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    while (reader && !(await reader.read()).done);
  };
  await read();
  const blockedMs = await measureLongestTurn(read, BLOCKED_MS_MAX);
  expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
});

test('a list omits inputs and outputs over 8 KB, however small they are compressed', async () => {
  const { body } = await owner.get('/api/runs?limit=1').expect(200);
  expect(body).toMatchObject([{ input: null, output: null }]);
});

test('a page of long lines ends before its limit, and the next one continues', async () => {
  const first = await owner.get('/api/runs/run_1/logs?limit=1000').expect(200);
  const second = await owner.get(`/api/runs/run_1/logs?limit=1000&after=${first.headers['x-next-after']}`).expect(200);
  expect(first.headers['x-has-more']).toBe('true');
  expect(first.body.length).toBeLessThan(100);
  expect(second.body[0].seq).toBe(first.body.at(-1).seq + 1);
});
