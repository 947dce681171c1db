import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { getBytes, startUpload } from './object-transfer';

test('an upload to a store that is still starting waits until it is ready, and sends its bytes once', async () => {
  const received: string[] = [];
  const store = http.createServer(async (req, res) => {
    received.push((await buffer(req)).toString());
    res.end();
  });
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  const { port } = store.address() as AddressInfo;
  await new Promise((resolve) => store.close(resolve));

  const starting = startUpload(`http://127.0.0.1:${port}/place`, 'text/plain', 10);
  setTimeout(() => store.listen(port, '127.0.0.1'), 100);
  const upload = await starting;
  await upload.write(Buffer.from('first '));
  await upload.write(Buffer.from('then'));
  await upload.end();
  expect(received).toEqual(['first then']);
  store.closeAllConnections();
  store.close();
});

test('a download waits for a store that cannot answer for as long as a restart takes', async () => {
  let refusals = 8;
  const store = http.createServer((_, res) => {
    if (refusals-- > 0) res.writeHead(503).end();
    else res.end('the code');
  });
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  const { port } = store.address() as AddressInfo;
  expect((await getBytes(`http://127.0.0.1:${port}/place`, 10)).toString()).toBe('the code');
  expect(refusals).toBe(-1);
  store.closeAllConnections();
  store.close();
});
