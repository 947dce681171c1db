import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { createBackupFile, openBackupFile } from './backup-file';
import type { DatabaseShape } from './database-copy';

const PASSPHRASE = 'correct horse battery staple';
const shape: DatabaseShape = { migrations: [], tables: [], partitions: [], sequences: [] };
const databases = { 'worker-api': shape, 'automation-api': shape, 'skills-api': shape };
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-backup-file-'));
afterAll(() => fs.rmSync(dir, { recursive: true }));

async function readWhole(file: string): Promise<void> {
  const { entries } = await openBackupFile(file, async () => PASSPHRASE);
  for await (const { content } of entries) for await (const chunk of content) expect(chunk.length).toBeGreaterThan(0);
}

test.each([0.2, 0.5, 0.8])(
  'a byte that changed inside of a large entry is damage, at %d of the file',
  async (place) => {
    const file = path.join(dir, `changed-${place}`);
    const backup = await createBackupFile(file, { databases, secrets: {} }, PASSPHRASE);
    await backup.add('objects/large', Buffer.from(randomBytes(1 << 20).toString('hex')));
    await backup.finish();
    await readWhole(file);
    const bytes = fs.readFileSync(file);
    const index = Math.floor(bytes.length * place);
    fs.writeFileSync(file, bytes.fill((bytes[index] ?? 0) ^ 1, index, index + 1));
    await expect(readWhole(file)).rejects.toThrow(/damaged or incomplete/);
  },
);

test('an entry whose name fills the memory is refused', async () => {
  const file = path.join(dir, 'long-name');
  const tar = pack();
  const written = pipeline(tar, createGzip(), fs.createWriteStream(file));
  tar.entry({ name: 'a'.repeat(64 << 20) }, 'content');
  tar.finalize();
  await written;
  expect(fs.statSync(file).size).toBeLessThan(1 << 20);
  await expect(readWhole(file)).rejects.toThrow(/the name of an entry is too long/);
});
