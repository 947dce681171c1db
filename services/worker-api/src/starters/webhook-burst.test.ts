/** Forty bodies of up to 1 MB arrive at once: each becomes a run, and other requests have their turns in between. */
import { given, measureLongestTurn } from '@gantry/testing';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const BLOCKED_MS_MAX = 50;
const REQUESTS = 40;
const BYTES = 1_000_000;

const api = testWorkerApi();
const worker = given(() => createWorker(api, { name: 'Any input', trigger: 'webhook', inputs: [] }));

test.each([
  ['objects', `[${'{"a":1},'.repeat(49_000)}0]`],
  ['one text', JSON.stringify('ä'.repeat(BYTES / 2 - 10))],
])(
  '%s',
  async (_, body) => {
    const { pathname, search } = new URL(worker.webhook_url);
    const bytes = new Uint8Array(Buffer.from(body));
    const statuses = new Set<number>();
    const send = async () => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(api.url + pathname + search, { method: 'POST', body: bytes, headers });
      await response.text();
      statuses.add(response.status);
    };
    await send();
    const blockedMs = await measureLongestTurn(
      () => Promise.all(Array.from({ length: REQUESTS }, send)),
      BLOCKED_MS_MAX,
    );
    expect(statuses).toEqual(new Set([200]));
    expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
  },
  120_000,
);
