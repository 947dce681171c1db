import type { Worker, WorkerChange } from '../../shell/api';

type WorkerDependencies = Pick<Worker, 'connections' | 'secrets' | 'contexts' | 'expose' | 'in_body'>;

/**
 * Merges the changes of several forms into one. Connections and contexts may be chosen in two of them: each adds and
 * removes its own. Values whose declaration is removed are exposed and replaced in bodies no longer.
 */
export function mergeChanges(worker: WorkerDependencies, parts: readonly WorkerChange[]): WorkerChange {
  const changes: WorkerChange = Object.assign({}, ...parts);
  for (const field of ['connections', 'contexts'] as const) {
    const lists = parts.flatMap((part) => (part[field] ? [part[field]] : []));
    if (lists.length > 0) changes[field] = mergeNames(worker[field], lists);
  }
  const declared = [...(changes.secrets ?? worker.secrets), ...(changes.connections ?? worker.connections)];
  for (const field of ['expose', 'in_body'] as const) {
    const chosen = changes[field] ?? worker[field];
    const usable = chosen.filter((name) => declared.includes(name));
    if (changes[field] || usable.length < chosen.length) changes[field] = usable;
  }
  return changes;
}

/** Applies to a list of names what each other list adds to it and removes from it. */
function mergeNames(current: readonly string[], lists: readonly (readonly string[])[]): string[] {
  const remaining = current.filter((name) => lists.every((list) => list.includes(name)));
  return [...new Set([...remaining, ...lists.flat().filter((name) => !current.includes(name))])];
}
