/** Fakes runs of workers. Like those of automations, they do nothing on their own. */
import type { WorkerSchemas } from '@gantry/sdk';
import type { FakeAccounts, FakeRequest, FakeResponse } from './fake-accounts';
import type { FakeCandidates } from './fake-candidates';
import { emitEvent, type FakeStream } from './fake-stream';

type Run = WorkerSchemas['Run'];

export interface FakeWorkerRun extends FakeStream {
  run: Run;
}

const CREATED_AT = Date.now() - 90_000;
const formatTime = (ms: number) => new Date(CREATED_AT + ms).toISOString();

let count = 0;

export function buildWorkerRun(fields: Partial<Run> = {}): FakeWorkerRun {
  return {
    run: {
      id: `run_w${++count}`,
      worker_id: 'price-watch',
      workspace_id: 'ws_ops',
      worker_version: 4,
      status: 'running',
      trigger: 'schedule',
      priority: 0,
      attempt: 1,
      parent_run_id: null,
      created_by: null,
      cancel_requested: false,
      waiting_for: null,
      error: null,
      error_code: null,
      error_type: null,
      error_trace: null,
      total_cost_usd: 0.0123,
      created_at: formatTime(0),
      started_at: formatTime(40),
      completed_at: null,
      duration_ms: null,
      cpu_ms: null,
      max_memory_bytes: null,
      sandbox: null,
      request_id: null,
      logs_count: 0,
      requests_count: 0,
      input: { shop: 'north', limit: 20 },
      output: null,
      queue_position: null,
      repair_id: null,
      conversation_id: null,
      steps: [],
      approvals: [],
      artifacts: [],
      ...fields,
    },
    events: [],
    watchers: new Set(),
  };
}

export const buildStep = (ordinal: number, name: string, fields: Partial<Run['steps'][number]> = {}) => ({
  ordinal,
  kind: 'step' as const,
  name,
  status: 'completed' as const,
  result: null,
  error: null,
  run_id: null,
  approval_id: null,
  started_at: formatTime(ordinal * 1_000),
  finished_at: formatTime(ordinal * 1_900),
  ...fields,
});

type WorkerRunResponse = FakeResponse | { follow: FakeStream; isOver: boolean };

const INPUTS = [
  { name: 'shop', label: 'Shop', type: 'text', required: true },
  { name: 'limit', label: 'Limit', type: 'integer', minimum: 1 },
];

const OUTPUTS = [{ name: 'plot', label: 'Plot', type: 'image' }];

const SOURCE = Array.from({ length: 20 }, (_, index) =>
  index === 11 ? '    import requests' : `    # line ${index + 1} of main.py`,
).join('\n');

/** Returns undefined for requests of another surface. */
export async function handleWorkerRunRequest(
  runs: FakeWorkerRun[],
  { me }: FakeAccounts,
  repairs: FakeCandidates['repairs'],
  { line, part, signedIn, workspaceId, body }: FakeRequest,
): Promise<WorkerRunResponse | undefined> {
  if (part[2] === 'workers' && part[3]) {
    if (part[3] !== 'price-watch') return { status: 404, body: { detail: 'no such worker' } };
    if (part[4] === 'versions') return { status: 200, body: [{ version: 4, sha: 'sha-of-4' }] };
    if (part[4] === 'files') return { status: 200, body: [{ path: 'main.py', content: SOURCE }] };
    const permissions = { run: me.role !== 'viewer' };
    const worker = { id: part[3], name: 'Price watch', inputs: INPUTS, outputs: OUTPUTS, permissions };
    if (!part[4]) return { status: 200, body: worker };
  }
  const fake = part[2] === 'runs' ? runs.find(({ run }) => run.id === part[3]) : undefined;
  if (!fake) return undefined;
  const { run } = fake;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  if (run.workspace_id !== (workspaceId ?? me.workspace_id)) return { status: 404, body: { detail: 'no such run' } };
  if (part[4] === 'artifacts') return undefined;
  if (part[4] === 'events') return { follow: fake, isOver: run.completed_at !== null };
  if (line.endsWith('/replay')) {
    const { inputs, version } = (await body()) as { inputs?: Run['input']; version?: string };
    const replayedRun = buildWorkerRun({
      trigger: 'replay',
      input: inputs ?? run.input,
      parent_run_id: run.id,
      worker_version: version === 'same' ? run.worker_version : 5,
    });
    runs.push(replayedRun);
    return { status: 201, body: { status: 'running', run_id: replayedRun.run.id } };
  }
  if (line.endsWith('/cancel')) {
    Object.assign(run, { status: 'cancelled', error: 'The run was cancelled.', error_code: 'cancelled' });
    Object.assign(run, { completed_at: formatTime(60_000), duration_ms: 59_960 });
    emitEvent(fake, 'done', { status: 'cancelled' });
  }
  return { status: 200, body: { ...run, repair_id: repairs.get(run.id)?.id ?? null } };
}
