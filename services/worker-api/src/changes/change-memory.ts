/**
 * Remembers the changes of the last minutes, so that an interrupted stream can resume at any replica. A resource that
 * changes again is kept once, with its last time, and IDS_MAX resources of one noun become "any of them", so memory is
 * bounded for each workspace.
 */

export interface Change {
  noun: string;
  /** Null: any of them. */
  id: string | null;
}

export const RETENTION_MS = 10 * 60_000;
const IDS_MAX = 50;
const WORKSPACES_MAX = 2_000;

/** Time of each resource's last change, in epoch milliseconds, by noun and id. */
type WorkspaceChanges = Map<string, Map<string | null, number>>;

/** @param startedAt earlier changes are unknown */
export function createChangeMemory(startedAt: number) {
  let knownFrom = startedAt;
  /** In the order of their last change. */
  const workspaces = new Map<string, WorkspaceChanges>();

  function evictOldestWorkspace() {
    const [oldest] = workspaces;
    if (!oldest) return;
    const [workspaceId, changes] = oldest;
    workspaces.delete(workspaceId);
    knownFrom = Math.max(knownFrom, getLastChangeTime(changes) + 1);
  }

  return {
    note(workspaceId: string, { noun, id }: Change, at: number): void {
      const kept: WorkspaceChanges = workspaces.get(workspaceId) ?? new Map();
      const times = kept.get(noun) ?? new Map<string | null, number>();
      const isFull = times.size >= IDS_MAX && !times.has(id);
      if (isFull) times.clear();
      times.set(isFull ? null : id, at);
      kept.set(noun, times);
      workspaces.delete(workspaceId);
      workspaces.set(workspaceId, kept);
      if (workspaces.size > WORKSPACES_MAX) evictOldestWorkspace();
    },
    /** Returns changes at that time and later; null: they are no longer known. */
    since(workspaceId: string, from: number): Change[] | null {
      if (from < knownFrom) return null;
      return [...(workspaces.get(workspaceId) ?? [])].flatMap(([noun, times]) => {
        if ((times.get(null) ?? -1) >= from) return { noun, id: null };
        return [...times].flatMap(([id, at]) => (at >= from ? { noun, id } : []));
      });
    },
    /** Forgets earlier changes, because some were missed. */
    forget(now: number): void {
      workspaces.clear();
      knownFrom = now;
    },
    /** Drops changes older than RETENTION_MS. */
    prune(now: number): void {
      knownFrom = Math.max(knownFrom, now - RETENTION_MS);
      for (const [workspaceId, changes] of workspaces) {
        if (getLastChangeTime(changes) >= knownFrom) break;
        workspaces.delete(workspaceId);
      }
    },
  };
}

const getLastChangeTime = (changes: WorkspaceChanges): number =>
  Math.max(...[...changes.values()].flatMap((times) => [...times.values()]));
