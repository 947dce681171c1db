/** Fakes the list of workers' runs, and bulk operations on them. */
import type { FakeRequest, FakeResponse } from './fake-accounts';
import { buildWorkerRun, type FakeWorkerRun } from './fake-worker-runs';

interface Runs {
  workerRuns: FakeWorkerRun[];
  /** Bulk requests, with the ids in them. */
  bulk: { line: string; ids: string[] }[];
}

/** Returns undefined for other requests. */
export async function handleRunListRequest(api: Runs, req: FakeRequest): Promise<FakeResponse | undefined> {
  const { line, query } = req;
  if (line === 'GET /api/runs') return listRuns(api, query);
  if (line === 'GET /api/runs/export.csv') return { status: 200, body: { csv: query.toString() } };
  if (line === 'GET /api/workers') {
    const workers = [{ id: 'price-watch', name: 'Price watch' }];
    const q = query.get('q')?.toLowerCase() ?? '';
    return { status: 200, body: workers.filter(({ name }) => name.toLowerCase().includes(q)) };
  }
  if (line === 'GET /api/workers/tags') return { status: 200, body: [{ tag: 'finance', count: 1 }] };
  if (!line.startsWith('POST /api/runs/bulk/')) return undefined;
  const { ids } = (await req.body()) as unknown as { ids: string[] };
  api.bulk.push({ line, ids });
  for (const id of ids) {
    const run = api.workerRuns.find((fake) => fake.run.id === id)?.run;
    if (!run) continue;
    if (line.endsWith('/cancel')) Object.assign(run, { status: 'cancelled', completed_at: run.created_at });
    else api.workerRuns.push(buildWorkerRun({ trigger: 'replay', created_at: new Date().toISOString() }));
  }
  return { status: 200, body: { matched: ids.length, changed: ids.length, skipped: 0, errors: [], more: false } };
}

function listRuns({ workerRuns }: Runs, query: URLSearchParams): FakeResponse {
  const matchesQuery = (name: string, value: string) => !query.has(name) || query.get(name) === value;
  const all = workerRuns
    .map(({ run }) => run)
    .filter(
      (run) =>
        matchesQuery('status', run.status) &&
        matchesQuery('trigger', run.trigger) &&
        matchesQuery('worker_id', run.worker_id),
    )
    .filter(
      ({ worker_id }) => worker_id.includes(query.get('q') ?? '') && (query.get('tag') ?? 'finance') === 'finance',
    )
    .filter(({ created_at }) => created_at >= (query.get('since') ?? '') && created_at < (query.get('until') ?? '9'))
    .sort((one, other) => (one.created_at < other.created_at ? 1 : -1));
  const before = query.get('before_id');
  const from = before ? all.findIndex(({ id }) => id === before) + 1 : 0;
  const limit = Number(query.get('limit') ?? 50);
  const page = all.slice(from, from + limit);
  const last = page.at(-1);
  const more = from + limit < all.length && last;
  return {
    status: 200,
    body: page,
    headers: {
      'X-Has-More': String(!!more),
      ...(more && { 'X-Next-Before-Created-At': last.created_at, 'X-Next-Before-Id': last.id }),
    },
  };
}
