/** Reads the files of an automation from a zip or a folder, and writes them into a zip. */
import { unzipSync, zipSync } from 'fflate';
import type { FileContent, Files } from '../code/files';
import { formatManifest, MANIFEST_PATH } from './manifest';

/** Limits of the service for an uploaded zip. */
const ZIP_BYTES_MAX = 10 * 1024 * 1024;
const FILES_MAX = 2_000;
const UNPACKED_BYTES_MAX = 100 * 1024 * 1024;
/** Files that tools leave in folders and that are no part of a program. */
const IGNORED_PATHS = /(^|\/)(__pycache__|__MACOSX|\.git|\.venv|\.DS_Store)(\/|$)/;

/** A chosen or dropped file with its path in the folder. */
export interface SelectedFile {
  path: string;
  file: File;
}

/**
 * Reads the files of one zip or folder, without their common top folder and with a manifest.
 * @throws Error with a message for the user
 */
export async function readPackage(selectedFiles: SelectedFile[]): Promise<Files> {
  const [firstFile] = selectedFiles;
  if (!firstFile) throw new Error('The package is empty.');
  const isZip = selectedFiles.length === 1 && /\.zip$/i.test(firstFile.path);
  const unpacked = isZip ? unzipEntries(await readZipBytes(firstFile.file)) : await readFiles(selectedFiles);
  const files = new Map(stripTopFolder(unpacked).map(([path, bytes]) => [path, toFileContent(bytes)]));
  if (![...files.keys()].some((path) => path.endsWith('.py')))
    throw new Error('The package doesn’t contain any Python files. Add a file that defines run().');
  if (!files.has(MANIFEST_PATH)) {
    const name = firstFile.path.replace(/\.zip$/i, '').split('/')[0] || 'Automation';
    files.set(MANIFEST_PATH, { text: formatManifest({ name, inputs: [], outputs: [] }) });
  }
  return files;
}

/** Zips everything but the manifest, which is sent separately. */
export function zipPackage(files: Files): Uint8Array<ArrayBuffer> {
  const entries = [...files].filter(([path]) => path !== MANIFEST_PATH);
  return zipSync(Object.fromEntries(entries.map(([path, content]) => [path, toBytes(content)])));
}

type UnpackedFiles = [path: string, bytes: Uint8Array][];

/** Checks names and sizes before unpacking anything. */
function unzipEntries(bytes: Uint8Array): UnpackedFiles {
  let [count, total] = [0, 0];
  try {
    const entries = unzipSync(bytes, {
      filter({ name, originalSize }) {
        if (name.endsWith('/') || IGNORED_PATHS.test(name)) return false;
        count += 1;
        total += originalSize;
        assertPackageSize(count, total);
        return true;
      },
    });
    return Object.entries(entries);
  } catch (err) {
    if (err instanceof PackageTooLargeError) throw err;
    throw new Error(`This zip file can’t be read: ${(err as Error).message}.`);
  }
}

class PackageTooLargeError extends Error {}

function assertPackageSize(count: number, bytes: number): void {
  if (count > FILES_MAX)
    throw new PackageTooLargeError(`The package has more than ${FILES_MAX} files. Remove unneeded files.`);
  if (bytes > UNPACKED_BYTES_MAX)
    throw new PackageTooLargeError('The package is larger than 100 MB. Remove unneeded files.');
}

async function readFiles(selectedFiles: SelectedFile[]): Promise<UnpackedFiles> {
  const includedFiles = selectedFiles.filter(({ path }) => !IGNORED_PATHS.test(path));
  assertPackageSize(
    includedFiles.length,
    includedFiles.reduce((sum, { file }) => sum + file.size, 0),
  );
  return Promise.all(
    includedFiles.map(
      async ({ path, file }): Promise<UnpackedFiles[number]> => [path, new Uint8Array(await file.arrayBuffer())],
    ),
  );
}

async function readZipBytes(file: File): Promise<Uint8Array> {
  if (file.size > ZIP_BYTES_MAX)
    throw new PackageTooLargeError('This zip file is larger than 10 MB. Remove unneeded files.');
  return new Uint8Array(await file.arrayBuffer());
}

function stripTopFolder(files: UnpackedFiles): UnpackedFiles {
  const top = files[0]?.[0].split('/')[0];
  const isCommonFolder = files.every(([path]) => path.startsWith(`${top}/`));
  return isCommonFolder ? files.map(([path, bytes]) => [path.slice((top?.length ?? 0) + 1), bytes]) : files;
}

/** A call takes a bounded number of arguments. */
const CHUNK_BYTES = 32_768;

/** Decodes UTF-8 without NUL as text, anything else as base64. */
function toFileContent(bytes: Uint8Array): FileContent {
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

const toBytes = (content: FileContent): Uint8Array =>
  'text' in content
    ? new TextEncoder().encode(content.text)
    : Uint8Array.from(atob(content.base64), (char) => char.charCodeAt(0));

export const unzipFiles = (bytes: Uint8Array): Files =>
  new Map(unzipEntries(bytes).map(([path, content]) => [path, toFileContent(content)]));
