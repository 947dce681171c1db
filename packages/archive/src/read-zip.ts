/**
 * Reads an untrusted zip. All entries are checked before the first is unpacked, and the zip's own metadata is never
 * trusted: content that differs from its declared size or checksum is refused during unpacking.
 */
import { promisify } from 'node:util';
import { crc32, createInflateRaw, inflateRaw } from 'node:zlib';
import * as yauzl from 'yauzl';
import { type BadArchiveCode, BadArchiveError } from './bad-archive-error';
import { findPathProblem, toCollisionKey } from './file-path';

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
  /**
   * In chunks of at most 1 MB, unless it is stored uncompressed. Chunks before an error must be discarded.
   * @throws BadArchiveError
   */
  chunks(): AsyncGenerator<Buffer>;
  /** @throws BadArchiveError */
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
const IN_MEMORY_BYTES_MAX = 1024 * 1024;

const inflateRawAsync = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);

/** @returns the entries in the archive's order; each is unpacked on demand. @throws BadArchiveError */
export async function readZip(zip: Buffer, limits: ZipLimits): Promise<ZipEntry[]> {
  const archive = await yauzl.fromBufferPromise(zip, { decodeStrings: false }).catch(throwUnreadableArchive);
  if (archive.entryCount > limits.entries) {
    throw new BadArchiveError('too_many_entries', `it has more than ${limits.entries} entries`);
  }
  const records = await collectChunks(archive.eachEntry()).catch(throwUnreadableArchive);
  const claimedPaths: ClaimedPaths = new Map();
  let bytesLeft = limits.bytes;

  return records.map((record) => {
    const { generalPurposeBitFlag, fileNameRaw, extraFields, uncompressedSize: size } = record;
    const name = yauzl.getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
    const isDirectory = name.endsWith('/');
    const path = isDirectory ? name.slice(0, -1) : name;
    assertValidRecord(record, name, isDirectory);
    claimPath(claimedPaths, path, isDirectory);

    async function* chunks(): AsyncGenerator<Buffer> {
      if (size > bytesLeft) {
        throw new BadArchiveError('too_large', `it unpacks to more than ${limits.bytes / 1024 / 1024} MB`);
      }
      bytesLeft -= size;
      const header = await archive.readLocalFileHeaderPromise(record, { minimal: true }).catch(throwUnreadableArchive);
      const packed = zip.subarray(header.fileDataStart, header.fileDataStart + record.compressedSize);
      yield* verifyChunks(record, path, record.compressionMethod === STORED ? [packed] : inflate(packed, size));
    }

    return { path, isDirectory, size, chunks, content: async () => Buffer.concat(await collectChunks(chunks())) };
  });
}

function throwUnreadableArchive(cause: Error): never {
  throw new BadArchiveError('unreadable', `not a readable zip: ${cause.message}`, { cause });
}

const quoteName = (name: string) => JSON.stringify(name.slice(0, 200));

function assertValidRecord(record: yauzl.Entry, name: string, isDirectory: boolean): void {
  const reject = (code: BadArchiveCode, message: string) => {
    throw new BadArchiveError(code, message, { entry: name });
  };
  const { compressionMethod, compressedSize, uncompressedSize } = record;
  const problem = findPathProblem(name);
  if (problem) reject('path', `the name ${quoteName(name)} ${problem}`);
  if (record.isEncrypted()) reject('encrypted', `${quoteName(name)} is encrypted`);
  if (compressionMethod !== STORED && compressionMethod !== DEFLATED) {
    reject('compression', `${quoteName(name)} uses an unsupported compression method (${compressionMethod})`);
  }
  if (uncompressedSize > compressedSize * DEFLATE_RATIO_MAX) {
    reject('compression', `${quoteName(name)} claims to unpack to ${uncompressedSize} bytes, which is impossible`);
  }
  const type = (record.externalFileAttributes >>> 16) & S_IFMT;
  if (type !== 0 && type !== (isDirectory ? S_IFDIR : S_IFREG)) {
    reject('special_file', `${quoteName(name)} is a link or a special file`);
  }
  if (isDirectory && uncompressedSize !== 0) reject('special_file', `the directory ${quoteName(name)} has content`);
}

type ClaimedPaths = Map<string, 'file' | 'directory'>;

/** Rejects duplicate paths, also in another case, and a file where another path needs a directory. */
function claimPath(claimedPaths: ClaimedPaths, path: string, isDirectory: boolean): void {
  const reject = (problem: string) => {
    throw new BadArchiveError('collision', `${quoteName(path)} ${problem}`, { entry: path });
  };
  const parts = toCollisionKey(path).split('/');
  for (let length = 1; length < parts.length; length++) {
    const parent = parts.slice(0, length).join('/');
    if (claimedPaths.get(parent) === 'file') reject('is inside a directory that is also a file');
    claimedPaths.set(parent, 'directory');
  }
  const key = parts.join('/');
  const before = claimedPaths.get(key);
  if (before && !(isDirectory && before === 'directory')) reject('appears twice');
  claimedPaths.set(key, isDirectory ? 'directory' : 'file');
}

async function* inflate(packed: Buffer, size: number): AsyncGenerator<Buffer> {
  if (size > IN_MEMORY_BYTES_MAX) yield* createInflateRaw({ chunkSize: 64 * 1024 }).end(packed);
  else yield await inflateRawAsync(packed, { maxOutputLength: Math.max(size, 1) });
}

async function* verifyChunks(
  record: yauzl.Entry,
  path: string,
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const toDamagedError = (problem: string, cause?: unknown) =>
    new BadArchiveError('damaged', `${quoteName(path)} is damaged: ${problem}`, { entry: path, cause });
  const toWrongSizeError = (cause?: unknown) =>
    toDamagedError(`it does not unpack to the declared ${record.uncompressedSize} bytes`, cause);
  let size = 0;
  let checksum = 0;
  try {
    for await (const piece of chunks) {
      size += piece.length;
      if (size > record.uncompressedSize) break;
      checksum = crc32(piece, checksum);
      yield piece;
    }
  } catch (cause) {
    throw toWrongSizeError(cause);
  }
  if (size !== record.uncompressedSize) throw toWrongSizeError();
  if (checksum !== record.crc32) throw toDamagedError('its checksum is wrong');
}

async function collectChunks<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
