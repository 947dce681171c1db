import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createBoundedFetch } from './bounded-events';
import { fetchWithoutRedirects } from './model-fetch';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('an aborted response ends, even if its request has been garbage-collected', async () => {
  const server = createServer((_, res) => void res.write('data: 1\n\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = new AbortController();
  const send = createBoundedFetch(fetchWithoutRedirects, true);
  const { body } = await send(`http://127.0.0.1:${port}/`, { signal: stop.signal });
  const reader = body?.getReader();
  await reader?.read();
  const next = reader?.read();
  // Objects that the last turns of the event loop used are collected by a later turn.
  for (let turn = 0; turn < 5; turn++) {
    await sleep(10);
    collectGarbage();
  }
  stop.abort(new Error('the person stopped it'));
  await expect(next).rejects.toThrow('the person stopped it');
  server.close();
});
