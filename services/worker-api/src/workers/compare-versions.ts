/** Compares two versions for people who look at a history. */
import type { FileEntry } from '../file-trees/file-tree';
import { DEFINITION_FIELDS } from './definition';
import type { Version } from './version-repository';

type ComparedVersion = Pick<Version, 'definition' | 'files'>;

/** @param before null: everything is new */
export function compareVersions(before: ComparedVersion | null, after: ComparedVersion) {
  const filesBefore = new Map(before?.files.map((file) => [file.path, file]));
  const filesAfter = new Map(after.files.map((file) => [file.path, file]));
  const paths = [...new Set([...filesBefore.keys(), ...filesAfter.keys()])].sort();
  return {
    files: paths.flatMap((path) => toFileChange(path, filesBefore.get(path), filesAfter.get(path))),
    fields: DEFINITION_FIELDS.flatMap((field) => {
      const [old, now] = [before?.definition[field] ?? null, after.definition[field]];
      return JSON.stringify(old) === JSON.stringify(now) ? [] : [{ field, before: old, after: now }];
    }),
  };
}

function toFileChange(path: string, before: FileEntry | undefined, after: FileEntry | undefined) {
  if (before?.sha === after?.sha) return [];
  const change = !before ? 'added' : after ? 'modified' : 'deleted';
  return [{ path, change, size_before: before?.size ?? null, size_after: after?.size ?? null }];
}
