/** Fakes candidates and repairs. Nothing is rehearsed: a test sets the outcomes. */
import type { WorkerSchemas } from '@gantry/sdk';
import { type FakeRequest, type FakeResponse, takeRefusal } from './fake-accounts';

type Schemas = WorkerSchemas;
type Candidate = Schemas['CandidateDetail'];
type Case = Schemas['CandidateCase'];
type Repair = Schemas['Repair'];

export interface FakeCandidates {
  list: Candidate[];
  /** Files by the id of a candidate. */
  files: Map<string, Record<string, string>>;
  /** By the id of the run that failed. */
  repairs: Map<string, Repair>;
  sent: { line: string; body: object }[];
  /** The error response to the next change. */
  refuseNext: FakeResponse | null;
}

export const createCandidateState = (): FakeCandidates => ({
  list: [],
  files: new Map(),
  repairs: new Map(),
  sent: [],
  refuseNext: null,
});

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

const OUTPUT = '{"total":1412.5,"shop":"north"}';

export const buildCase = (runId: string, outcome: Case['outcome'], over: Partial<Case> = {}): Case => {
  const failedBefore = outcome === 'fixed' || outcome === 'still_failing';
  const failsNow = outcome === 'broken' || outcome === 'still_failing';
  const error = { status: 'failed', error: "KeyError: 'total'", error_code: 'exception', output: null } as const;
  const completed = { status: 'completed', error: null, error_code: null, output: OUTPUT } as const;
  return {
    run_id: runId,
    rehearsal_run_id: outcome ? `${runId}_r` : null,
    base_rehearsal_run_id: null,
    recorded: outcome && (failedBefore ? error : completed),
    rehearsed: outcome && { ...(failsNow ? error : completed), duration_ms: 212 },
    outcome,
    reason: null,
    differences: [],
    ...over,
  };
};

const OUTCOMES = ['same', 'different', 'fixed', 'still_failing', 'broken', 'inconclusive'] as const;

export const summarizeCases = (cases: Case[]): Candidate['summary'] => {
  const count = (outcome: Case['outcome']) => cases.filter((one) => one.outcome === outcome).length;
  const [same = 0, different = 0, fixed = 0, still_failing = 0, broken = 0, inconclusive = 0] = OUTCOMES.map(count);
  return { same, different, fixed, still_failing, broken, inconclusive, total: cases.length };
};

export const buildCandidate = (id: string, cases: Case[], over: Partial<Candidate> = {}): Candidate => ({
  id,
  worker_id: 'price-report',
  status: 'ready',
  origin: 'person',
  repair_id: null,
  base_sha: '',
  sha: `sha-${id}`,
  message: 'Round the total',
  error: null,
  warnings: [],
  created_by: 'usr_ada',
  created_by_label: 'ada@example.com',
  created_at: minutesAgo(4),
  decided_by: null,
  decided_by_label: null,
  decided_at: null,
  version_sha: null,
  summary: summarizeCases(cases),
  version_approval: null,
  permissions: { promote: true, drop: true, approve: true },
  changes: { files: [{ path: 'main.py', change: 'modified', size_before: 640, size_after: 652 }], fields: [] },
  cases,
  ...over,
});

export const buildRepair = (runId: string, over: Partial<Repair> = {}): Repair => ({
  id: 'rpr_1',
  run_id: runId,
  worker_id: 'price-report',
  status: 'working',
  proven: null,
  model: 'local/qwen3',
  instructions: null,
  explanation: null,
  error: null,
  candidate_id: null,
  approval_id: null,
  steps: ['Read the run and its log', 'Read main.py'],
  usage: { input_tokens: 5_210, output_tokens: 640, usd: 0.0123 },
  created_by: 'usr_ada',
  created_at: minutesAgo(1),
  ended_at: null,
  ...over,
});

/** Returns undefined for requests of another resource. */
export async function handleCandidateRequest(
  fake: FakeCandidates,
  req: FakeRequest,
): Promise<FakeResponse | undefined> {
  const { line, part } = req;
  const isRepair = part[2] === 'runs' && part[4] === 'repair';
  const isCandidate = part[2] === 'workers' && part[4] === 'candidates';
  if (!isRepair && !isCandidate) return undefined;
  if (!line.startsWith('GET')) {
    fake.sent.push({ line, body: await req.body() });
    const refusal = takeRefusal(fake);
    if (refusal) return refusal;
  }
  return isRepair ? handleRepairRequest(fake, req) : handleWorkerCandidates(fake, req);
}

function handleRepairRequest(fake: FakeCandidates, { line, part }: FakeRequest): FakeResponse {
  const runId = part[3] ?? '';
  if (part[5] === 'stop') Object.assign(fake.repairs.get(runId) ?? {}, { status: 'stopped', ended_at: minutesAgo(0) });
  else if (line.startsWith('POST')) {
    const { instructions = null } = (fake.sent.at(-1)?.body ?? {}) as { instructions?: string };
    fake.repairs.set(runId, buildRepair(runId, { instructions, steps: [], usage: NO_USAGE }));
  }
  const repair = fake.repairs.get(runId);
  return repair ? { status: 200, body: repair } : { status: 404, body: { detail: 'no repair of this run was begun' } };
}

const NO_USAGE = { input_tokens: 0, output_tokens: 0, usd: 0 };

function handleWorkerCandidates(fake: FakeCandidates, { line, part }: FakeRequest): FakeResponse {
  const [workerId, id, what] = [part[3], part[5], part[6]];
  if (line.startsWith('POST') && !id) {
    const { message = null, base_sha = '' } = (fake.sent.at(-1)?.body ?? {}) as Partial<Schemas['NewCandidate']>;
    const cases = [buildCase('run_past1', null), buildCase('run_past2', null)];
    const created = buildCandidate('cnd_made', cases, { status: 'rehearsing', message, base_sha });
    fake.list.unshift(created);
    return { status: 201, body: created };
  }
  const own = fake.list.filter((one) => one.worker_id === workerId);
  if (!id) return { status: 200, body: own };
  const candidate = own.find((one) => one.id === id);
  if (!candidate) return { status: 404, body: { detail: 'no such candidate' } };
  if (what === 'files') {
    const files = Object.entries(fake.files.get(id) ?? {});
    return { status: 200, body: files.map(([path, content]) => ({ path, content, size: content.length, sha: path })) };
  }
  if (what === 'approve') {
    const by = { approved_by: 'usr_ada', approved_by_label: 'ada@example.com', approved_at: minutesAgo(0) };
    candidate.version_approval = { status: 'approved', ...by };
  } else if (what) {
    Object.assign(candidate, {
      status: what === 'promote' ? 'promoted' : 'dropped',
      permissions: { promote: false, drop: false, approve: false },
      decided_by: 'usr_ada',
      decided_by_label: 'ada@example.com',
      decided_at: minutesAgo(0),
    });
  }
  return { status: 200, body: candidate };
}
