/** Bodies of 1 MB, each of a kind that costs a step of the request the most: one alone does not stop other requests. */
import { measureLongestTurn, setupResource } from '@gantry/testing';
import { createWorker } from '../../test/create-worker';
import { testWorkerApi } from '../../test/test-worker-api';

const BLOCKED_MS_MAX = 50;
const BYTES = 1_000_000;

const api = testWorkerApi();
const anyInput = setupResource(() => createWorker(api, { name: 'Any input', trigger: 'webhook', inputs: [] }));
const declared = setupResource(() =>
  createWorker(api, { name: 'Declared', trigger: 'webhook', inputs: [{ name: 'payload', type: 'array' }] }),
);

const list = (item: string, count = Math.floor(BYTES / (item.length + 1)) - 10) => `[${`${item},`.repeat(count)}0]`;
const object = (count: number, value: unknown = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at.toString(36)}`, value]));

test.each([
  ['numbers', list('0')],
  ['decimals', list('1.5e1')],
  ['texts', list('"a"')],
  ['empty objects', list('{}', 99_000)],
  ['objects', list('{"a":1}', 49_000)],
  ['names', JSON.stringify(object(19_000))],
  ['names in each of many objects', JSON.stringify(object(150, object(500)))],
  ['one text', JSON.stringify('ä'.repeat(BYTES / 2 - 10))],
  ['escapes', `"${'\\u0020'.repeat(BYTES / 6)}"`],
])('%s', async (_, body) => {
  for (const { webhook_url } of [anyInput, declared]) {
    const { pathname, search } = new URL(webhook_url);
    const send = async () => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(api.url + pathname + search, { method: 'POST', body, headers });
      await response.text();
      expect([200, 400]).toContain(response.status);
    };
    await send();
    const blockedMs = await measureLongestTurn(send, BLOCKED_MS_MAX);
    expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
  }
});
