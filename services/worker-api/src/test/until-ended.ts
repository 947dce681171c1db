import type { TestWorkerApi } from './test-worker-api';

// biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they know
type EndedRun = any;

/** Waits by the run's own stream. @returns the run as the API shows it then */
export async function untilEnded(api: Pick<TestWorkerApi, 'url' | 'owner'>, runId: string): Promise<EndedRun> {
  const headers = { Authorization: `Bearer ${api.owner.jwt}` };
  const run = `${api.url}/api/runs/${runId}`;
  await (await fetch(`${run}/stream`, { headers: { ...headers, Accept: 'application/x-ndjson' } })).text();
  return (await fetch(run, { headers })).json();
}
