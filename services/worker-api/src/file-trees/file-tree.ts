/**
 * The files of a version of a worker or context: what they may be called, how they change, what their version's sha
 * is.
 */
import { createHash } from 'node:crypto';
import { findPathProblem, toCollisionKey } from '@gantry/archive';
import { type FieldProblem, invalid } from '@gantry/errors';
import type { SurfaceSchemas } from '@gantry/openapi';
import { toCanonicalJson } from './canonical-json';

/** A file in the list of a version's row. */
export type FileEntry = {
  path: string;
  /** Bytes. */
  size: number;
  /** SHA-256 of the content, hex. */
  sha: string;
};

export interface TreeFile extends FileEntry {
  content: Buffer;
}

/** Sorted by path; no path twice, also not in another case. */
export type FileTree = TreeFile[];

/** As a request writes it: exactly one of the three, `path` aside. */
export type FileChange = SurfaceSchemas<'worker'>['FileChange'];

const FILES_MAX = 500;
export const TREE_BYTES_MAX = 10 * 1024 * 1024;

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Folders that tools leave behind, such as caches. */
const IGNORED_FOLDERS = new Set(['__pycache__', '.git']);

export const isIgnored = (path: string): boolean => path.split('/').some((segment) => IGNORED_FOLDERS.has(segment));

/**
 * The tree with some files written or deleted and the others kept.
 * @param field what the request calls the list
 * @throws AppError 400 naming every change that can't be made
 */
export function applyFileEdits(tree: FileTree, changes: FileChange[], field = 'files'): FileTree {
  const problems: FieldProblem[] = [];
  const decoded = changes.map((change, index) => {
    const { path } = change;
    const content = decodeContent(change);
    if (typeof content === 'string') problems.push({ path: `${field}.${index}`, message: `"${path}" ${content}` });
    return { path, content: typeof content === 'string' ? null : content };
  });
  if (problems.length) throw invalid(problems, 'bad_files');
  return applyFileChanges(tree, decoded, field);
}

/** Null deletes; a string is what is wrong. */
function decodeContent({ content, content_base64: base64, delete: deletes }: FileChange): Buffer | null | string {
  const given = [content !== undefined, base64 !== undefined, deletes === true].filter(Boolean).length;
  if (given !== 1) return 'needs exactly one of content, content_base64 and delete: true';
  if (deletes) return null;
  if (content !== undefined) return Buffer.from(content);
  const bytes = Buffer.from(base64 as string, 'base64');
  const isBase64 = bytes.toString('base64').replace(/(?<!=)=+$/, '') === (base64 as string).replace(/(?<!=)=+$/, '');
  return isBase64 ? bytes : 'has a content_base64 value that is not valid base64';
}

/**
 * The tree with these files written, or deleted where the content is null, and the others kept.
 * @throws AppError 400 naming the files under `field`
 */
export function applyFileChanges(
  tree: FileTree,
  changes: { path: string; content: Buffer | null }[],
  field = 'files',
): FileTree {
  const files = new Map(tree.map((file) => [file.path, file]));
  const keys = new Map(tree.map(({ path }) => [toCollisionKey(path), path]));
  const problems: FieldProblem[] = [];
  const named = new Set<string>();
  // Deleting goes first, so that a request may rename a file to another case of its name.
  const order = changes.map((change, index) => ({ ...change, index }));
  order.sort((a, b) => Number(a.content !== null) - Number(b.content !== null));
  for (const { path, content, index } of order) {
    const problem = named.has(path)
      ? 'appears twice'
      : content
        ? findEntryProblem(path, keys)
        : !files.has(path) && 'does not exist';
    named.add(path);
    if (problem) {
      problems.push({ path: `${field}.${index}.path`, message: `"${path.slice(0, 200)}" ${problem}` });
    } else if (content) {
      files.set(path, buildTreeFile(path, content));
      keys.set(toCollisionKey(path), path);
    } else {
      files.delete(path);
      keys.delete(toCollisionKey(path));
    }
  }
  problems.push(...listNestingProblems(keys, field));
  if (files.size > FILES_MAX) problems.push({ path: field, message: `must contain at most ${FILES_MAX} files` });
  const result = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  if (result.reduce((sum, { size }) => sum + size, 0) > TREE_BYTES_MAX) {
    problems.push({ path: field, message: `must not be larger than ${TREE_BYTES_MAX / 1024 / 1024} MB in total` });
  }
  if (problems.length) throw invalid(problems, 'bad_files');
  return result;
}

function findEntryProblem(path: string, keys: Map<string, string>): string | null {
  if (path.endsWith('/')) return 'is a directory';
  const problem = findPathProblem(path);
  if (problem) return problem;
  if (LONE_SURROGATE.test(path)) return 'is not valid Unicode';
  if (isIgnored(path)) return 'is at an ignored path';
  const taken = keys.get(toCollisionKey(path));
  return taken !== undefined && taken !== path ? `and "${taken}" are the same file on some systems` : null;
}

/** No file where another's path needs a directory. */
function listNestingProblems(keys: Map<string, string>, field: string): FieldProblem[] {
  return [...keys].flatMap(([key, path]) => {
    const parts = key.split('/');
    const file = parts
      .slice(1)
      .map((_, length) => keys.get(parts.slice(0, length + 1).join('/')))
      .find(Boolean);
    return file ? [{ path: field, message: `"${path}" is inside "${file}", which is a file` }] : [];
  });
}

function buildTreeFile(path: string, content: Buffer): TreeFile {
  return { path, content, size: content.length, sha: createHash('sha256').update(content).digest('hex') };
}

export const listEntries = (tree: FileTree): FileEntry[] => tree.map(({ path, size, sha }) => ({ path, size, sha }));

/**
 * Lists files of a version that the next one lacks because the object store has lost their content.
 * @param currentTree what the store still has of the version
 */
export function listLostPaths(files: Pick<FileEntry, 'path'>[], currentTree: FileTree, nextTree: FileTree): string[] {
  const known = new Set([...currentTree, ...nextTree].map(({ path }) => path));
  return files.map(({ path }) => path).filter((path) => !known.has(path));
}

const LISTED_PATHS_MAX = 20;

/** @returns a warning, or none */
export function formatLostFiles(paths: string[]): string[] {
  if (!paths.length) return [];
  const listed = paths.slice(0, LISTED_PATHS_MAX).join(', ');
  const more = paths.length > LISTED_PATHS_MAX ? ` and ${paths.length - LISTED_PATHS_MAX} more` : '';
  return [`this version is missing files that the object store has lost: ${listed}${more}; save them again`];
}

/**
 * Names a version by what it holds: SHA-256, hex, over canonical JSON.
 * @param definition what belongs to the version besides its files
 */
export function computeVersionSha(files: FileEntry[], definition?: object): string {
  const sorted = files.map(({ path, sha }) => [path, sha]).sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(toCanonicalJson({ definition, files: sorted }))
    .digest('hex');
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** `content` where the bytes are text, else `content_base64`. */
export function fileToApi({ path, size, sha, content }: TreeFile) {
  const text = decodeText(content);
  return { path, size, sha, ...(text === null ? { content_base64: content.toString('base64') } : { content: text }) };
}

/** Null where the bytes are no text. */
export function decodeText(content: Buffer): string | null {
  if (content.includes(0)) return null;
  try {
    return utf8.decode(content);
  } catch {
    return null;
  }
}
