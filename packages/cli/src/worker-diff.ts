/** Compares a folder with its deployed worker. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { WorkerSchemas } from '@gantry/sdk';
import { formatLineDiff } from './line-diff';
import { bold, dim, green, joinLines, red, type Text, text, yellow } from './text';
import type { LocalFile } from './worker-folder';

type RemoteFile = WorkerSchemas['TreeFile'];

export interface FileChange {
  path: string;
  change: 'added' | 'modified' | 'deleted';
  before: RemoteFile | null;
  after: LocalFile | null;
}

export interface SettingChange {
  field: string;
  before: unknown;
  after: unknown;
}

export interface WorkerDiff {
  files: FileChange[];
  settings: SettingChange[];
}

export function compareFiles(remote: RemoteFile[], local: LocalFile[]): FileChange[] {
  const before = new Map(remote.map((file) => [file.path, file]));
  const after = new Map(local.map((file) => [file.path, file]));
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path): FileChange[] => {
    const [old = null, current = null] = [before.get(path), after.get(path)];
    if (!old) return [{ path, change: 'added', before: old, after: current }];
    if (!current) return [{ path, change: 'deleted', before: old, after: current }];
    const sha = createHash('sha256').update(current.content).digest('hex');
    return sha === old.sha ? [] : [{ path, change: 'modified', before: old, after: current }];
  });
}

/** Fields that are no part of a version. A manifest without them leaves them as they are. */
const UNVERSIONED_FIELDS = new Set(['name', 'description', 'tags', 'triggers']);
/** They are applied when the worker is created, and belong to no export. */
const UNEXPORTED_FIELDS = new Set(['id', 'visibility']);
/** An export writes them out where they are defaults: `retry` only of an agent. */
const EXPORTED_DEFAULTS = new Set(['runner', 'entrypoint', 'retry']);

export interface ComparedSettings {
  /** The worker, with every default filled in. */
  worker: Record<string, unknown>;
  /** Its manifest as the server exports it, without defaults. */
  exported: Record<string, unknown>;
  manifest: Record<string, unknown>;
  /** Whether this very manifest made the current version: only what is no part of a version can differ. */
  isDeployed: boolean;
}

/** Compares what a manifest says, which may be short, such as `trigger: webhook`, with what the server has. */
export function compareSettings({ worker, exported, manifest, isDeployed }: ComparedSettings): SettingChange[] {
  const { trigger, schedule, triggers, ...rest } = manifest;
  const triggerList = triggers ?? (trigger !== undefined ? [trigger] : schedule !== undefined ? [schedule] : undefined);
  const written: Record<string, unknown> = { ...rest, ...(triggerList !== undefined && { triggers: triggerList }) };
  const isComparable = (field: string) =>
    !UNEXPORTED_FIELDS.has(field) && (!isDeployed || UNVERSIONED_FIELDS.has(field));
  const isSame = (field: string) =>
    isDeepStrictEqual(exported[field], written[field]) || isSuperset(worker[field], written[field]);
  const changed = Object.keys(written).filter((field) => isComparable(field) && !isSame(field));
  const dropped = Object.keys(exported).filter(
    (field) =>
      isComparable(field) && !(field in written) && !UNVERSIONED_FIELDS.has(field) && !EXPORTED_DEFAULTS.has(field),
  );
  return [...changed, ...dropped].map((field) => ({
    field,
    before: exported[field] ?? worker[field] ?? null,
    after: written[field] ?? null,
  }));
}

/** Whether the full form says what the short one does. */
function isSuperset(full: unknown, short: unknown): boolean {
  if (Array.isArray(short)) {
    const list = Array.isArray(full) ? full : [];
    return list.length === short.length && short.every((item, index) => isSuperset(list[index], item));
  }
  if (typeof full !== 'object' || full === null) return full === short;
  const object = full as Record<string, unknown>;
  if (typeof short === 'string') return [object.name, object.type, object.cron, object.tool].includes(short);
  if (typeof short !== 'object' || short === null) return false;
  return Object.entries(short).every(([name, value]) => isSuperset(object[name], value));
}

export const isEmpty = ({ files, settings }: WorkerDiff): boolean => !files.length && !settings.length;

const SIGNS = { added: green('A'), modified: yellow('M'), deleted: red('D') };

/** One line for each file and setting. */
export function formatSummary({ files, settings }: WorkerDiff): Text {
  return joinLines([
    ...files.map(({ path, change, before, after }) => {
      const sizes = [before?.size, after?.content.length].filter((size) => size !== undefined).join(' → ');
      return text`${SIGNS[change]} ${path}  ${dim(`${sizes} bytes`)}`;
    }),
    ...settings.map(
      ({ field, before, after }) => text`${yellow('M')} ${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
    ),
  ]);
}

/** The same with the lines of texts. */
export function formatDiff({ files, settings }: WorkerDiff): Text {
  const sections = files.map((file) => {
    const [before, after] = [getText(file.before), file.after?.content.toString() ?? ''];
    const isText = before !== null && !after.includes('\0');
    const lines = isText ? formatLineDiff(before, after) : null;
    return joinLines([bold(text`${SIGNS[file.change]} ${file.path}`), ...(lines ?? [dim('  (no line diff)')])]);
  });
  return joinLines([...sections, ...(settings.length ? [formatSummary({ files: [], settings })] : [])]);
}

const getText = (file: RemoteFile | null): string | null => (file ? (file.content ?? null) : '');

export const diffToJson = ({ files, settings }: WorkerDiff) => ({
  files: files.map(({ path, change, before, after }) => ({
    path,
    change,
    size_before: before?.size ?? null,
    size_after: after?.content.length ?? null,
  })),
  settings,
});
