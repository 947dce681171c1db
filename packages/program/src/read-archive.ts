import { createHash } from 'node:crypto';
import { readZip } from '@gantry/archive';
import { AppError } from '@gantry/errors';

export interface ArchiveFile {
  path: string;
  content: Buffer;
  /** SHA-256, hex. */
  hash: string;
}

/** The whole upload: api-spec.md, Limits. */
export const ZIP_BYTES_MAX = 10 * 1024 * 1024;
const UNPACKED = { entries: 2_000, bytes: 100 * 1024 * 1024 };

const EXCLUDED = new Set(['__pycache__', '.git']);
/** Only the manifest at the root is excluded; elsewhere a file of that name is the author's. */
const isExcluded = (path: string): boolean =>
  path === 'manifest.json' || path.split('/').some((segment) => EXCLUDED.has(segment));

/**
 * @param field name of the upload in the request
 * @param isIgnored files to leave out; default: those that an artifact leaves out
 * @returns the remaining files, sorted by path. @throws AppError 400 `bad_zip` with the problem
 */
export async function readArchive(
  zip: Buffer,
  field: string,
  isIgnored: (path: string) => boolean = isExcluded,
): Promise<ArchiveFile[]> {
  try {
    const files = await readFiles(zip, isIgnored);
    if (!files.length) throw new Error('it contains no files');
    return files;
  } catch (cause) {
    const { message } = cause as Error;
    throw new AppError('invalid', 'bad_zip', `${field}: the upload is not a usable zip: ${message}`, {
      cause,
      fields: [{ path: field, message }],
    });
  }
}

/**
 * Reads all files of a zip made by `packFiles`, possibly none, sorted by path.
 * @throws BadArchiveError if it is damaged
 */
export const readPackedFiles = (zip: Buffer): Promise<ArchiveFile[]> => readFiles(zip, () => false);

async function readFiles(zip: Buffer, isIgnored: (path: string) => boolean): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = [];
  for (const entry of await readZip(zip, UNPACKED)) {
    if (entry.isDirectory || isIgnored(entry.path)) continue;
    const content = await entry.content();
    files.push({ path: entry.path, content, hash: createHash('sha256').update(content).digest('hex') });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}
