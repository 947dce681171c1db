import type { FakeExecutor, FakeJob } from '@gantry/testing';
import type { createCaller } from './caller';

/** The job of a new run of a worker, which completes. @param path `runs` or `test` */
export async function startJob(
  { caller, executor }: { caller: ReturnType<typeof createCaller>; executor: FakeExecutor },
  id: string,
  path = 'runs',
  body: object = {},
): Promise<FakeJob | null> {
  const asked = executor.claim();
  await caller.post(`/api/workers/${id}/${path}`, body).expect(201);
  const job = await asked;
  await job?.complete(null);
  return job;
}
