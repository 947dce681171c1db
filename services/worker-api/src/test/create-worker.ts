import request from 'supertest';
import type { TestWorkerApi } from './test-worker-api';

export const HELLO = 'def run(name="world"):\n    return {"greeting": f"hello {name}"}\n';

/** Body that `createWorker` sends unless a test says otherwise. */
export const helloWorker = {
  name: 'Hello',
  inputs: [{ name: 'name', type: 'text' }],
  files: [{ path: 'main.py', content: HELLO }],
};

// biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they know
export type CreatedWorker = any;

/**
 * A worker of the owner, made through the API.
 * @param overrides fields of the body; `jwt` is the credential that makes it
 * @returns the answer: the worker with its webhook's secrets
 */
export async function createWorker(
  api: Pick<TestWorkerApi, 'url' | 'owner'>,
  { jwt = api.owner.jwt, ...overrides }: { jwt?: string; [field: string]: unknown } = {},
): Promise<CreatedWorker> {
  const answer = await request(api.url)
    .post('/api/workers')
    .set('Authorization', `Bearer ${jwt}`)
    .send({ ...helloWorker, ...overrides });
  if (answer.status !== 201) throw new Error(`POST /api/workers: ${answer.status} ${answer.text}`);
  return answer.body;
}
