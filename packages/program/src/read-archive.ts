/**
 * Reading a zip that a stranger made. Nothing of it is executed or written to disk under its own name; sizes in headers
 * are believed only where they are smaller than what was counted.
 */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { AppError } from '@gantry/http';
import * as yauzl from 'yauzl';
import { collisionKey, isExcluded, pathProblem } from './file-path';

export interface ArchiveFile {
  path: string;
  content: Buffer;
  /** SHA-256, hex. */
  hash: string;
}

/** The whole upload: api-spec.md, Limits. */
export const ZIP_BYTES_MAX = 10 * 1024 * 1024;
const INFLATED_BYTES_MAX = 100 * 1024 * 1024;
const ENTRIES_MAX = 2_000;

const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED_FLAG = 1;
/** st_mode of UNIX, which zips carry in the upper half of the external attributes. */
const S_IFMT = 0xf000;
const S_IFREG = 0x8000;
const S_IFDIR = 0x4000;

/**
 * @param field what the request calls the upload
 * @param ignores which files don't count; by default what an artifact leaves out
 * @returns the files that count, sorted by path. @throws AppError 400 `bad_zip` saying what is wrong
 */
export async function readArchive(
  zip: Buffer,
  field: string,
  ignores: (path: string) => boolean = isExcluded,
): Promise<ArchiveFile[]> {
  try {
    const files = await filesOf(zip, ignores);
    if (!files.length) throw new Error('it holds no files');
    return files;
  } catch (cause) {
    const { message } = cause as Error;
    throw new AppError('invalid', 'bad_zip', `${field}: the upload is not a zip that can be used: ${message}`, {
      cause,
      fields: [{ path: field, message }],
    });
  }
}

/** All files of a zip that `repack` made, perhaps none, sorted by path. @throws Error: it is damaged */
export const readPack = (zip: Buffer): Promise<ArchiveFile[]> => filesOf(zip, () => false);

async function filesOf(zip: Buffer, ignores: (path: string) => boolean): Promise<ArchiveFile[]> {
  const archive = await yauzl.fromBufferPromise(zip, {
    lazyEntries: true,
    strictFileNames: true,
    validateEntrySizes: true,
  });
  if (archive.entryCount > ENTRIES_MAX) throw new Error(`it has more than ${ENTRIES_MAX} entries`);
  const files: ArchiveFile[] = [];
  const names = new Map<string, 'file' | 'directory'>();
  let left = INFLATED_BYTES_MAX;
  let entries = 0;
  try {
    for await (const entry of archive.eachEntry()) {
      if (++entries > ENTRIES_MAX) throw new Error(`it has more than ${ENTRIES_MAX} entries`);
      const path = entry.fileName;
      const isDirectory = path.endsWith('/');
      checkEntry(entry, isDirectory);
      claimName(names, path, isDirectory);
      if (isDirectory || ignores(path)) continue;
      const content = await inflate(archive, entry, left);
      left -= content.length;
      files.push({ path, content, hash: createHash('sha256').update(content).digest('hex') });
    }
  } finally {
    archive.close();
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function checkEntry(entry: yauzl.Entry, isDirectory: boolean): void {
  const problem = pathProblem(entry.fileName);
  if (problem) throw new Error(`the name "${entry.fileName.slice(0, 200)}" ${problem}`);
  if (entry.generalPurposeBitFlag & ENCRYPTED_FLAG) throw new Error(`"${entry.fileName}" is encrypted`);
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
    throw new Error(`"${entry.fileName}" is compressed in an unusual way (method ${entry.compressionMethod})`);
  }
  const type = (entry.externalFileAttributes >>> 16) & S_IFMT;
  if (type !== 0 && type !== (isDirectory ? S_IFDIR : S_IFREG)) {
    throw new Error(`"${entry.fileName}" is a link or special file; only plain files can be uploaded`);
  }
  if (isDirectory && entry.uncompressedSize !== 0) throw new Error(`the directory "${entry.fileName}" has content`);
}

/** No path twice, also not in another case, and no file where another path needs a directory. */
function claimName(names: Map<string, 'file' | 'directory'>, path: string, isDirectory: boolean): void {
  const parts = collisionKey(isDirectory ? path.slice(0, -1) : path).split('/');
  for (let length = 1; length < parts.length; length++) {
    const parent = parts.slice(0, length).join('/');
    if (names.get(parent) === 'file') throw new Error(`"${path}" lies inside a file`);
    names.set(parent, 'directory');
  }
  const key = parts.join('/');
  const taken = names.get(key);
  if (taken && !(isDirectory && taken === 'directory')) throw new Error(`"${path}" appears twice`);
  names.set(key, isDirectory ? 'directory' : 'file');
}

async function inflate(archive: yauzl.ZipFile, entry: yauzl.Entry, bytesMax: number): Promise<Buffer> {
  const tooMuch = () => new Error(`it unpacks to more than ${INFLATED_BYTES_MAX / 1024 / 1024} MB`);
  if (entry.uncompressedSize > bytesMax) throw tooMuch();
  const stream = await archive.openReadStreamPromise(entry);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > bytesMax) throw tooMuch();
    chunks.push(chunk);
  }
  const content = Buffer.concat(chunks, size);
  if (crc32(content) !== entry.crc32) throw new Error(`"${entry.fileName}" is damaged: its checksum is wrong`);
  return content;
}
