/**
 * Unpacks a zip that may be hostile. Nothing it says about itself is believed: names are checked, inflated bytes are
 * counted as they come, and the first fault ends it.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import yauzl from 'yauzl';

export const UNPACKED_BYTES_MAX = 100 << 20;
export const ENTRIES_MAX = 2_000;
const NAME_BYTES_MAX = 1_024;
const DEPTH_MAX = 32;
const S_IFMT = 0o170000;
const S_IFREG = 0o100000;
const S_IFDIR = 0o040000;

export class BadZip extends Error {}

/** @returns inflated bytes. @throws BadZip, after which `directory` holds nothing of use. */
export function unpackZip(zip: Buffer, directory: string): Promise<number> {
  return walk(zip, {
    directory: (name) => makeDirectory(path.join(directory, name), name),
    file(name, source, bytesMax) {
      const target = path.join(directory, name);
      makeDirectory(path.dirname(target), name);
      return writeEntry(source, target, bytesMax);
    },
  });
}

/** Whether unpackZip() would take it, as far as that can be told without writing it. @throws BadZip. */
export function checkZip(zip: Buffer): Promise<number> {
  return walk(zip, { directory: () => {}, file: (_, source, bytesMax) => inflate(source, bytesMax, () => {}) });
}

interface Visitor {
  directory(name: string): void;
  /** @returns inflated bytes. */
  file(name: string, source: Readable, bytesMax: number): Promise<number>;
}

async function walk(zip: Buffer, visit: Visitor): Promise<number> {
  const seen = new Set<string>();
  let total = 0;
  let entries = 0;
  const archive = await yauzl.fromBufferPromise(zip, { strictFileNames: true }).catch(unreadable);
  try {
    for await (const entry of archive.eachEntry()) {
      if (++entries > ENTRIES_MAX) throw new BadZip(`more than ${ENTRIES_MAX} entries`);
      const name = safeName(entry.fileName);
      refuseSpecialFiles(entry, name);
      if (entry.fileName.endsWith('/')) {
        visit.directory(name);
        continue;
      }
      // Which of two files of one name counts would be up to the reader: a checker may have seen the other.
      if (seen.has(name)) throw new BadZip(`two entries are called ${name}`);
      seen.add(name);
      const source = await archive.openReadStreamPromise(entry).catch(unreadable);
      // It may fail before anybody reads it; reading it then fails too.
      source.on('error', () => {});
      total += await visit.file(name, source, UNPACKED_BYTES_MAX - total);
    }
  } catch (err) {
    if (err instanceof BadZip) throw err;
    unreadable(err as Error);
  } finally {
    archive.close();
  }
  return total;
}

function unreadable(err: Error): never {
  throw new BadZip(`not a readable zip: ${err.message}`);
}

function safeName(raw: string): string {
  const name = raw.replace(/\/$/, '');
  const parts = name.split('/');
  const bad =
    name === '' ||
    Buffer.byteLength(name) > NAME_BYTES_MAX ||
    parts.length > DEPTH_MAX ||
    parts.some((part) => part === '' || part === '.' || part === '..' || Buffer.byteLength(part) > 255) ||
    hasForbiddenCharacter(name);
  if (bad)
    throw new BadZip(`an entry has the name ${JSON.stringify(raw.slice(0, 200))}, which is not a plain relative path`);
  return name;
}

/** Control characters, and what means something on another system: backslashes, drive letters. */
function hasForbiddenCharacter(name: string): boolean {
  return /^[A-Za-z]:/.test(name) || name.includes('\\') || [...name].some((c) => c.charCodeAt(0) < 32 || c === '\x7f');
}

function refuseSpecialFiles(entry: yauzl.Entry, name: string): void {
  if (entry.generalPurposeBitFlag & 1) throw new BadZip(`${name} is encrypted`);
  const madeOnUnix = entry.versionMadeBy >>> 8 === 3;
  const type = (entry.externalFileAttributes >>> 16) & S_IFMT;
  if (madeOnUnix && type !== 0 && type !== S_IFREG && type !== S_IFDIR) {
    throw new BadZip(`${name} is a link or a special file`);
  }
}

function makeDirectory(target: string, name: string): void {
  try {
    fs.mkdirSync(target, { recursive: true, mode: 0o755 });
  } catch {
    throw new BadZip(`${name} lies below something that is a file`);
  }
}

/** 'wx' and no links ever made: the target can't be anything but a new file below the directory. */
async function writeEntry(source: Readable, target: string, bytesMax: number): Promise<number> {
  const file = await fs.promises.open(target, 'wx', 0o444).catch(() => {
    throw new BadZip(`${path.basename(target)} is there twice`);
  });
  try {
    return await inflate(source, bytesMax, (chunk) => file.write(chunk));
  } finally {
    await file.close();
  }
}

async function inflate(source: Readable, bytesMax: number, take: (chunk: Buffer) => unknown): Promise<number> {
  let bytes = 0;
  try {
    for await (const chunk of source) {
      bytes += (chunk as Buffer).length;
      if (bytes > bytesMax) throw new BadZip(`it unpacks to more than ${UNPACKED_BYTES_MAX >> 20} MB`);
      await take(chunk as Buffer);
    }
  } finally {
    source.destroy();
  }
  return bytes;
}
