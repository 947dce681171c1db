/**
 * Reads an untrusted zip. All entries are checked before the first is unpacked, and the zip's own metadata is never
 * trusted: content that differs from its declared size or checksum is refused during unpacking.
 */
import { promisify } from 'node:util';
import { crc32, createInflateRaw, inflateRaw } from 'node:zlib';
import * as yauzl from 'yauzl';
import { BadArchive, type BadArchiveCode } from './bad-archive';
import { collisionKey, pathProblem } from './file-path';

export interface ZipLimits {
  /** Files and directories. */
  entries: number;
  /** Unpacked, of all files that are read. */
  bytes: number;
}

export interface ZipEntry {
  /** Relative, with `/` between its parts and none at its end. */
  path: string;
  isDirectory: boolean;
  /** Bytes, unpacked. */
  size: number;
  /** In chunks of at most 1 MB, unless it is stored uncompressed. Chunks before an error must be discarded. @throws BadArchive */
  chunks(): AsyncGenerator<Buffer>;
  /** @throws BadArchive */
  content(): Promise<Buffer>;
}

const STORED = 0;
const DEFLATED = 8;
/** DEFLATE's shortest code for its longest match is 2 bits for 258 bytes. */
const DEFLATE_RATIO_MAX = 1_032;
/** st_mode of UNIX, which zips carry in the upper half of the external attributes. */
const S_IFMT = 0xf000;
const S_IFREG = 0x8000;
const S_IFDIR = 0x4000;
/** Up to this size one call is faster than a stream. */
const AT_ONCE_BYTES_MAX = 1024 * 1024;

const inflateAtOnce = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);

/** @returns the entries in the archive's order; each is unpacked on demand. @throws BadArchive */
export async function readZip(zip: Buffer, limits: ZipLimits): Promise<ZipEntry[]> {
  const archive = await yauzl.fromBufferPromise(zip, { decodeStrings: false }).catch(unreadable);
  if (archive.entryCount > limits.entries) {
    throw new BadArchive('too_many_entries', `it has more than ${limits.entries} entries`);
  }
  const records = await collected(archive.eachEntry()).catch(unreadable);
  const taken: TakenPaths = new Map();
  let bytesLeft = limits.bytes;

  return records.map((record) => {
    const { generalPurposeBitFlag, fileNameRaw, extraFields, uncompressedSize: size } = record;
    const name = yauzl.getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
    const isDirectory = name.endsWith('/');
    const path = isDirectory ? name.slice(0, -1) : name;
    checkRecord(record, name, isDirectory);
    takePath(taken, path, isDirectory);

    async function* chunks(): AsyncGenerator<Buffer> {
      if (size > bytesLeft) {
        throw new BadArchive('too_large', `it unpacks to more than ${limits.bytes / 1024 / 1024} MB`);
      }
      bytesLeft -= size;
      const header = await archive.readLocalFileHeaderPromise(record, { minimal: true }).catch(unreadable);
      const packed = zip.subarray(header.fileDataStart, header.fileDataStart + record.compressedSize);
      yield* verified(record, path, record.compressionMethod === STORED ? [packed] : inflated(packed, size));
    }

    return { path, isDirectory, size, chunks, content: async () => Buffer.concat(await collected(chunks())) };
  });
}

function unreadable(cause: Error): never {
  throw new BadArchive('unreadable', `not a readable zip: ${cause.message}`, { cause });
}

const quoted = (name: string) => JSON.stringify(name.slice(0, 200));

function checkRecord(record: yauzl.Entry, name: string, isDirectory: boolean): void {
  const refuse = (code: BadArchiveCode, message: string) => {
    throw new BadArchive(code, message, { entry: name });
  };
  const { compressionMethod, compressedSize, uncompressedSize } = record;
  const problem = pathProblem(name);
  if (problem) refuse('path', `the name ${quoted(name)} ${problem}`);
  if (record.isEncrypted()) refuse('encrypted', `${quoted(name)} is encrypted`);
  if (compressionMethod !== STORED && compressionMethod !== DEFLATED) {
    refuse('compression', `${quoted(name)} uses an unsupported compression (method ${compressionMethod})`);
  }
  if (uncompressedSize > compressedSize * DEFLATE_RATIO_MAX) {
    refuse('compression', `${quoted(name)} claims to unpack to ${uncompressedSize} bytes, which is impossible`);
  }
  const type = (record.externalFileAttributes >>> 16) & S_IFMT;
  if (type !== 0 && type !== (isDirectory ? S_IFDIR : S_IFREG)) {
    refuse('special_file', `${quoted(name)} is a link or a special file`);
  }
  if (isDirectory && uncompressedSize !== 0) refuse('special_file', `the directory ${quoted(name)} has content`);
}

type TakenPaths = Map<string, 'file' | 'directory'>;

/** Rejects duplicate paths, also in another case, and a file where another path needs a directory. */
function takePath(taken: TakenPaths, path: string, isDirectory: boolean): void {
  const refuse = (problem: string) => {
    throw new BadArchive('collision', `${quoted(path)} ${problem}`, { entry: path });
  };
  const parts = collisionKey(path).split('/');
  for (let length = 1; length < parts.length; length++) {
    const parent = parts.slice(0, length).join('/');
    if (taken.get(parent) === 'file') refuse('lies inside a file');
    taken.set(parent, 'directory');
  }
  const key = parts.join('/');
  const before = taken.get(key);
  if (before && !(isDirectory && before === 'directory')) refuse('appears twice');
  taken.set(key, isDirectory ? 'directory' : 'file');
}

async function* inflated(packed: Buffer, size: number): AsyncGenerator<Buffer> {
  if (size > AT_ONCE_BYTES_MAX) yield* createInflateRaw({ chunkSize: 64 * 1024 }).end(packed);
  else yield await inflateAtOnce(packed, { maxOutputLength: Math.max(size, 1) });
}

async function* verified(
  record: yauzl.Entry,
  path: string,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const damaged = (problem: string, cause?: unknown) =>
    new BadArchive('damaged', `${quoted(path)} is damaged: ${problem}`, { entry: path, cause });
  const wrongSize = (cause?: unknown) => damaged(`it does not unpack to its ${record.uncompressedSize} bytes`, cause);
  let size = 0;
  let checksum = 0;
  try {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > record.uncompressedSize) break;
      checksum = crc32(piece, checksum);
      yield piece;
    }
  } catch (cause) {
    throw wrongSize(cause);
  }
  if (size !== record.uncompressedSize) throw wrongSize();
  if (checksum !== record.crc32) throw damaged('its checksum is wrong');
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
