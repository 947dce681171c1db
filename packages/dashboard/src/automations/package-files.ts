/** Reads the files of an automation from a zip or a folder, and writes them into a zip. */
import { unzipSync, zipSync } from 'fflate';
import type { FileContent, Files } from '../code/files';
import { MANIFEST, writeManifest } from './manifest';

/** Limits of the service for an uploaded zip. */
const ZIP_BYTES_MAX = 10 * 1024 * 1024;
const FILES_MAX = 2_000;
const UNPACKED_BYTES_MAX = 100 * 1024 * 1024;
/** Files that tools leave in folders and that are no part of a program. */
const LEFT_OUT = /(^|\/)(__pycache__|__MACOSX|\.git|\.venv|\.DS_Store)(\/|$)/;

/** A chosen or dropped file with its path in the folder. */
export interface ChosenFile {
  path: string;
  file: File;
}

/**
 * Reads the files of one zip or folder, without their common top folder and with a manifest.
 * @throws Error with a message for the user
 */
export async function readPackage(chosen: ChosenFile[]): Promise<Files> {
  const [only] = chosen;
  if (!only) throw new Error('The package is empty.');
  const isZip = chosen.length === 1 && /\.zip$/i.test(only.path);
  const unpacked = isZip ? unzip(await readZip(only.file)) : await readEach(chosen);
  const files = new Map(withoutTopFolder(unpacked).map(([path, bytes]) => [path, contentOf(bytes)]));
  if (![...files.keys()].some((path) => path.endsWith('.py'))) throw new Error('The package contains no Python file.');
  if (!files.has(MANIFEST)) {
    const name = only.path.replace(/\.zip$/i, '').split('/')[0] || 'Automation';
    files.set(MANIFEST, { text: writeManifest({ name, inputs: [], outputs: [] }) });
  }
  return files;
}

/** Zips everything but the manifest, which is sent separately. */
export function zipOf(files: Files): Uint8Array<ArrayBuffer> {
  const entries = [...files].filter(([path]) => path !== MANIFEST);
  return zipSync(Object.fromEntries(entries.map(([path, content]) => [path, bytesIn(content)])));
}

type Unpacked = [path: string, bytes: Uint8Array][];

/** Checks names and sizes before unpacking anything. */
export function unzip(bytes: Uint8Array): Unpacked {
  let [count, total] = [0, 0];
  try {
    const entries = unzipSync(bytes, {
      filter({ name, originalSize }) {
        if (name.endsWith('/') || LEFT_OUT.test(name)) return false;
        count += 1;
        total += originalSize;
        checkSize(count, total);
        return true;
      },
    });
    return Object.entries(entries);
  } catch (err) {
    if (err instanceof TooMuch) throw err;
    throw new Error(`This zip can’t be read: ${(err as Error).message}.`);
  }
}

class TooMuch extends Error {}

function checkSize(count: number, bytes: number): void {
  if (count > FILES_MAX)
    throw new TooMuch(`The package has more than ${FILES_MAX} files. Remove what the code does not need.`);
  if (bytes > UNPACKED_BYTES_MAX) throw new TooMuch('The package is larger than 100 MB. Remove what the code does not need.');
}

async function readEach(chosen: ChosenFile[]): Promise<Unpacked> {
  const kept = chosen.filter(({ path }) => !LEFT_OUT.test(path));
  checkSize(
    kept.length,
    kept.reduce((sum, { file }) => sum + file.size, 0),
  );
  return Promise.all(
    kept.map(async ({ path, file }): Promise<Unpacked[number]> => [path, new Uint8Array(await file.arrayBuffer())]),
  );
}

async function readZip(file: File): Promise<Uint8Array> {
  if (file.size > ZIP_BYTES_MAX)
    throw new TooMuch('This zip is larger than 10 MB. Remove what the code does not need.');
  return new Uint8Array(await file.arrayBuffer());
}

function withoutTopFolder(files: Unpacked): Unpacked {
  const top = files[0]?.[0].split('/')[0];
  const isAround = files.every(([path]) => path.startsWith(`${top}/`));
  return isAround ? files.map(([path, bytes]) => [path.slice((top?.length ?? 0) + 1), bytes]) : files;
}

/** A call takes a bounded number of arguments. */
const CHUNK_BYTES = 32_768;

/** Decodes UTF-8 without NUL as text, anything else as base64. */
function contentOf(bytes: Uint8Array): FileContent {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes('\0')) return { text };
  } catch {
    // Not text.
  }
  let binary = '';
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES));
  return { base64: btoa(binary) };
}

const bytesIn = (content: FileContent): Uint8Array =>
  'text' in content
    ? new TextEncoder().encode(content.text)
    : Uint8Array.from(atob(content.base64), (char) => char.charCodeAt(0));

export const filesOfZip = (bytes: Uint8Array): Files =>
  new Map(unzip(bytes).map(([path, content]) => [path, contentOf(content)]));
