/** Fakes examples and evaluations of workers. Nothing runs: a test sets the results. */
import type { WorkerSchemas } from '@gantry/sdk';
import { type FakeRequest, type FakeResponse, takeRefusal } from './fake-accounts';

type Schemas = WorkerSchemas;
type Example = Schemas['Example'];
type Evaluation = Schemas['EvaluationDetail'];
type Result = Schemas['EvaluationResult'];

export interface FakeEvaluations {
  examples: Example[];
  /** Newest first. */
  list: Evaluation[];
  /** Versions of the table, newest first. */
  versions: { sha: string; version: number }[];
  sent: { line: string; body: object }[];
  refuseNext: FakeResponse | null;
}

export const createEvaluationState = (): FakeEvaluations => ({
  examples: [],
  list: [],
  versions: [],
  sent: [],
  refuseNext: null,
});

const AT = Date.now();
const hoursAgo = (hours: number) => new Date(AT - hours * 3_600_000).toISOString();

export const buildExample = (id: string, over: Partial<Example> = {}): Example => ({
  id,
  name: 'A quiet day',
  description: '',
  inputs: { shop: 'north' },
  enabled: true,
  of_run_id: null,
  checks: [{ kind: 'equal', path: '/total', value: 12 }],
  max_duration_seconds: null,
  max_cost_usd: null,
  created_by: 'usr_ada',
  created_at: hoursAgo(90),
  updated_at: hoursAgo(90),
  ...over,
});

export const buildResult = (example: Example, status: Result['status'], over: Partial<Result> = {}): Result => ({
  example_id: example.id,
  example_name: example.name,
  status,
  error: null,
  usd: 0.0004,
  run_id: status === 'pending' ? null : `run_${example.id}`,
  checks:
    status === 'passed' || status === 'failed'
      ? example.checks.map((check) => ({
          kind: check.kind,
          path: ('path' in check && check.path) || null,
          passed: status === 'passed',
          score: null,
          message: status === 'passed' ? 'as it should be' : '/total is 11, not 12',
        }))
      : [],
  output: status === 'passed' || status === 'failed' ? { total: status === 'passed' ? 12 : 11, shop: 'north' } : null,
  duration_ms: status === 'pending' || status === 'running' ? null : 1_246,
  ...over,
});

export function buildEvaluation(
  id: string,
  version: { sha: string; version: number },
  results: Result[],
  over: Partial<Evaluation> = {},
): Evaluation {
  const count = (status: Result['status']) => results.filter((one) => one.status === status).length;
  const isOpen = results.some(({ status }) => status === 'running' || status === 'pending');
  return {
    id,
    worker_id: 'price-report',
    version_sha: version.sha,
    version: version.version,
    error: null,
    status: isOpen ? 'running' : 'completed',
    trigger: 'person',
    created_by: 'usr_ada',
    created_at: hoursAgo(1),
    totals: { passed: count('passed'), failed: count('failed'), error: count('error'), total: results.length },
    usd: results.reduce((sum, { usd }) => sum + usd, 0),
    duration_ms: isOpen ? null : 8_120,
    ended_at: isOpen ? null : hoursAgo(0.9),
    results,
    ...over,
  };
}

/** Returns undefined for requests of another resource. */
export async function handleEvaluationRequest(
  fake: FakeEvaluations,
  req: FakeRequest,
): Promise<FakeResponse | undefined> {
  const { line, part } = req;
  if (part[2] !== 'workers' || !['examples', 'evaluations'].includes(part[4] ?? '')) return undefined;
  if (!line.startsWith('GET')) {
    fake.sent.push({ line, body: await req.body() });
    const refusal = takeRefusal(fake);
    if (refusal) return refusal;
  }
  return part[4] === 'examples' ? handleExampleRequest(fake, req) : handleEvaluationResource(fake, req);
}

function handleExampleRequest(fake: FakeEvaluations, { line, part }: FakeRequest): FakeResponse {
  const [verb] = line.split(' ');
  const input = (fake.sent.at(-1)?.body ?? {}) as Partial<Example>;
  if (verb === 'POST') {
    const { run_id: of_run_id = null } = input as { run_id?: string };
    fake.examples.push(buildExample(`ex_${fake.examples.length}`, { ...input, of_run_id }));
    return { status: 201, body: fake.examples.at(-1) as Example };
  }
  if (!part[5]) return { status: 200, body: fake.examples };
  const example = fake.examples.find(({ id }) => id === part[5]);
  if (!example) return { status: 404, body: { detail: 'no such example' } };
  if (verb === 'PATCH') Object.assign(example, input);
  if (verb === 'DELETE') {
    fake.examples = fake.examples.filter((one) => one !== example);
    return { status: 204 };
  }
  return { status: 200, body: example };
}

function handleEvaluationResource(fake: FakeEvaluations, { line, part }: FakeRequest): FakeResponse {
  if (part[5] === 'table') return { status: 200, body: buildTable(fake) };
  if (line.startsWith('POST') && !part[5]) {
    const { sha } = (fake.sent.at(-1)?.body ?? {}) as { sha?: string };
    const version = fake.versions.find((one) => one.sha === sha) ?? fake.versions[0] ?? { sha: '', version: 1 };
    const results = fake.examples
      .filter(({ enabled }) => enabled)
      .map((one) => buildResult(one, 'pending', { usd: 0 }));
    fake.list.unshift(buildEvaluation(`eval_${fake.list.length + 1}`, version, results));
    return { status: 202, body: fake.list[0] as Evaluation };
  }
  if (!part[5]) return { status: 200, body: fake.list.map(({ results, ...one }) => one) };
  const evaluation = fake.list.find(({ id }) => id === part[5]);
  if (!evaluation) return { status: 404, body: { detail: 'no such evaluation' } };
  if (part[6] === 'stop') Object.assign(evaluation, { status: 'stopped', duration_ms: 2_000, ended_at: hoursAgo(0) });
  return { status: 200, body: evaluation };
}

function buildTable({ examples, list, versions }: FakeEvaluations): Schemas['EvaluationTable'] {
  const latest = (sha: string) => list.find(({ version_sha }) => version_sha === sha);
  const rows = new Map(examples.map(({ id, name }) => [id, { id, name, exists: true }]));
  const cells: Schemas['EvaluationTable']['cells'] = {};
  for (const { version_sha: sha, results } of versions.flatMap((one) => latest(one.sha) ?? [])) {
    for (const { example_id: id, example_name: name, status, run_id } of results) {
      if (!rows.has(id)) rows.set(id, { id, name, exists: false });
      cells[id] = { ...cells[id], [sha]: { status, run_id } };
    }
  }
  return {
    examples: [...rows.values()].sort((one, other) => one.name.localeCompare(other.name)),
    versions: versions.map(({ sha, version }, index) => {
      const { id = null, status = null, totals = null } = latest(sha) ?? {};
      return { sha, version, created_at: hoursAgo(index * 30 + 2), evaluation_id: id, status, totals };
    }),
    cells,
  };
}
