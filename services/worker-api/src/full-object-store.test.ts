/** Runs the object store on a real file system without any space left. */
import { createSmallDisk, isToolUnavailable, setupResource } from '@gantry/testing';
import request from 'supertest';
import { createCaller } from './test/caller';
import { createWorker, HELLO, helloWorker } from './test/create-worker';
import { testWorkerApi } from './test/test-worker-api';

const DISK_BYTES = 4 << 20;
const FILES = [{ path: 'main.py', content: HELLO.replace('hello', 'good evening') }];

(isToolUnavailable('bwrap') ? describe.skip : describe)('while the disk of the object store is full', () => {
  const disk = setupResource(
    () => createSmallDisk(DISK_BYTES),
    (one) => one.remove(),
  );
  const api = testWorkerApi(() => ({ objectsDir: disk.dir }));
  const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
  const uploadUrl = (key: string) =>
    api.deps.objects.presignPut(key, { sizeMax: 1_000, expiresSeconds: 60, audience: 'internal' });

  const uploadContext = () =>
    request(api.url)
      .post('/api/contexts/prices/upload')
      .set('Authorization', `Bearer ${api.owner.jwt}`)
      .attach('file', Buffer.from('sku,price\n'), 'prices.csv');

  test('writes answer 503 with Retry-After, reads work, and everything works once space is free', async () => {
    await createWorker(api, { id: 'saved-before' });
    await owner.post('/api/contexts', { name: 'prices' }).expect(201);
    const upload = await uploadUrl(`${api.workspaceId}/uploads/one`);
    const free = disk.fill();
    const writes = [
      () => owner.post('/api/workers', { ...helloWorker, id: 'saved-later' }),
      () => owner.put('/api/workers/saved-before/files', { files: FILES }),
      uploadContext,
    ];
    for (const write of writes) {
      const answer = await write();
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '2']);
      expect(answer.text).not.toMatch(/ENOSPC|\/proc|disk-/);
    }
    expect((await fetch(upload, { method: 'PUT', body: 'content' })).status).toBe(503);
    const { body } = await owner.get('/health').expect(200);
    expect(body).toEqual({ status: 'degraded', down: ['object_store'] });
    await owner.get('/api/workers/saved-later').expect(404);
    const kept = await owner.get('/api/workers/saved-before/files').expect(200);
    expect(kept.body).toMatchObject([{ path: 'main.py', content: HELLO }]);

    free();
    for (const write of writes) expect([200, 201]).toContain((await write()).status);
    expect((await fetch(upload, { method: 'PUT', body: 'content' })).status).toBe(200);
    expect((await owner.get('/health')).body).toEqual({ status: 'ok' });
    const written = await owner.get('/api/workers/saved-before/files').expect(200);
    expect(written.body).toMatchObject(FILES);
  });
});
