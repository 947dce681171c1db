/** Forty bodies of up to 1 MB arrive at once: each becomes a run, and other requests have their turns in between. */
import { measureLongestTurn, setupResource, startBurstSender } from '@gantry/testing';
import { createWorker } from '../../test/create-worker';
import { testWorkerApi } from '../../test/test-worker-api';

/** Reading forty sockets is some of it: parsing all that they bring in one turn takes over half a second. */
const BLOCKED_MS_MAX = 100;
const REQUESTS = 40;
const BYTES = 1_000_000;

const api = testWorkerApi();
const worker = setupResource(() => createWorker(api, { name: 'Any input', trigger: 'webhook', inputs: [] }));
const sender = setupResource(startBurstSender, (one) => one.stop());

test.each([
  ['objects', `[${'{"a":1},'.repeat(49_000)}0]`],
  ['one text', JSON.stringify('ä'.repeat(BYTES / 2 - 10))],
])('%s', async (_, text) => {
  const { pathname, search } = new URL(worker.webhook_url);
  const url = api.url + pathname + search;
  await sender.post(url, text, 1);
  const statuses = new Set<number>();
  const blockedMs = await measureLongestTurn(async () => {
    for (const status of await sender.post(url, text, REQUESTS)) statuses.add(status);
  }, BLOCKED_MS_MAX);
  expect(statuses).toEqual(new Set([200]));
  expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
});
