import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import type { ArchiveFile } from './read-archive';

/** Of every entry; read by nobody. As local time, since that is what a zip's DOS field holds. */
const MTIME = new Date(2020, 0, 1);
const MODE = 0o100644;

/** The same files give the same bytes, so that a digest names what runs, whoever packed it and when. */
export async function repack(files: ArchiveFile[]): Promise<{ zip: Buffer; digest: string }> {
  const archive = new ZipFile();
  for (const { path, content } of files) {
    archive.addBuffer(content, path, { mtime: MTIME, mode: MODE, forceDosTimestamp: true });
  }
  archive.end();
  const zip = await buffer(archive.outputStream);
  return { zip, digest: createHash('sha256').update(zip).digest('hex') };
}
