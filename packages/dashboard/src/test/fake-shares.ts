/** Fakes share links of runs, and the public view of a shared run. */
import type { WorkerSchemas } from '@gantry/sdk';
import type { FakeRequest, FakeResponse } from './fake-accounts';
import type { FakeStream } from './fake-stream';
import type { FakeWorkerRun } from './fake-worker-runs';

export interface FakeShares {
  links: (WorkerSchemas['ShareLink'] & { token: string })[];
}

export const createShareState = (): FakeShares => ({ links: [] });

type ShareResponse = FakeResponse | { follow: FakeStream; isOver: boolean };

/** Returns undefined for other requests. */
export async function handleShareRequest(
  { links }: FakeShares,
  runs: FakeWorkerRun[],
  origin: string,
  { line, part, body, signedIn }: FakeRequest,
): Promise<ShareResponse | undefined> {
  if (part[1] === 'api' && part[2] === 'shared') {
    const link = links.find(({ token }) => token === part[3]);
    const fake = runs.find(({ run }) => run.id === link?.run_id);
    if (!link || !fake) return { status: 404, body: { detail: 'no share link matches this link; ask for a new link' } };
    if (part[4] === 'events') return { follow: fake, isOver: fake.run.completed_at !== null };
    return { status: 200, body: toSharedRun(fake.run, link.expires_at) };
  }
  if (part[2] !== 'runs' || part[4] !== 'share-links') return undefined;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  const runId = part[3] ?? '';
  if (line.startsWith('GET')) return { status: 200, body: links.filter(({ run_id }) => run_id === runId) };
  if (line.startsWith('DELETE')) {
    links.splice(
      links.findIndex(({ id }) => id === part[5]),
      1,
    );
    return { status: 204 };
  }
  const { expires_in_seconds } = (await body()) as { expires_in_seconds?: number };
  const now = Date.now();
  const link = {
    id: `shl_${now}`,
    run_id: runId,
    created_by: 'Ada',
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + (expires_in_seconds ?? 604_800) * 1_000).toISOString(),
    token: `shr_${now}`,
  };
  links.unshift(link);
  return { status: 201, body: { ...link, url: `${origin}/shared/${link.token}` } };
}

function toSharedRun(run: FakeWorkerRun['run'], expires_at: string): WorkerSchemas['SharedRun'] {
  const { worker_version, status, error, error_code, error_type, created_at, started_at, completed_at } = run;
  return {
    worker_name: 'Price watch',
    worker_version,
    status,
    waiting_for: null,
    error,
    error_code,
    error_type,
    created_at,
    started_at,
    completed_at,
    duration_ms: run.duration_ms,
    outputs: [],
    output: run.output,
    steps: run.steps.map(({ result, run_id, approval_id, ...step }) => step),
    approvals: [],
    artifacts: run.artifacts.map(({ id, name, content_type, size }) => ({ id, name, content_type, size })),
    expires_at,
  };
}
