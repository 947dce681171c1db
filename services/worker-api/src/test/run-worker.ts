import { waitUntil } from '@gantry/testing';
import type { createCaller } from './caller';

type Caller = ReturnType<typeof createCaller>;

/** Runs a worker on a name, and waits until the run has ended. @returns its id */
export async function runWorker(caller: Caller, workerId: string, name: string): Promise<string> {
  const { body } = await caller.post(`/api/workers/${workerId}/runs`, { inputs: { name } }).expect(201);
  await waitUntil(async () => (await caller.get(`/api/runs/${body.run_id}`)).body.completed_at !== null);
  return body.run_id;
}
