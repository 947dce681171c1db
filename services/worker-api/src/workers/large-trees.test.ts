/** Files of a version that is as large as one may be. */
import { createZip, measureLongestTurn, setupResource } from '@gantry/testing';
import { HELLO } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const BLOCKED_MS_MAX = 50;
const MB = 1024 * 1024;

const api = testWorkerApi();
const credential = () => ({ authorization: `Bearer ${api.owner.jwt}` });

async function upload(name: string, files: Record<string, string>): Promise<string> {
  const body = new FormData();
  const zip = await createZip({ 'worker.yaml': `name: ${name}\n`, 'main.py': HELLO, ...files });
  body.append('bundle', new Blob([new Uint8Array(zip)]), 'worker.zip');
  const response = await fetch(`${api.url}/api/workers`, { method: 'POST', headers: credential(), body });
  expect([name, response.status]).toEqual([name, 201]);
  return ((await response.json()) as { id: string }).id;
}

const one = setupResource(async () => ({ id: await upload('One file', { 'data.txt': '"'.repeat(9.9 * MB) }) }));
const many = setupResource(async () => ({
  id: await upload(
    'Many files',
    Object.fromEntries(Array.from({ length: 490 }, (_, at) => [`${`${at}/`.repeat(30)}data.txt`, 'ä"'.repeat(6_500)])),
  ),
}));

test('a bundle is exported in event loop turns of at most 50 ms', async () => {
  for (const { id } of [one, many]) {
    const read = async () => {
      const response = await fetch(`${api.url}/api/workers/${id}/bundle.zip`, { headers: credential() });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    };
    await read();
    const blockedMs = await measureLongestTurn(read, BLOCKED_MS_MAX);
    expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
  }
});
