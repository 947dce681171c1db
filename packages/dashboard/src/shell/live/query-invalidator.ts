/**
 * Refetches queries of changed resources. However often they change, each noun is refetched at most every
 * REFETCH_INTERVAL_MS, and never while the last refetch is in progress: a busy workspace must not keep a page from
 * ever being shown.
 */
import type { Query, QueryClient } from '@tanstack/react-query';

export interface ChangeHint {
  noun: string;
  /** Absent: any of them. */
  id?: string;
}

const DEBOUNCE_MS = 100;
const REFETCH_INTERVAL_MS = 1_000;
/** Summary queries are refetched less often. */
const SUMMARY_INTERVAL_MS = 5_000;
/** With more changes than this at once, their ids no longer matter. */
const IDS_MAX = 50;

/** First parts of the query keys that show a noun, beside the noun itself. */
const RELATED_ROOTS: Record<string, string[]> = {
  approvals: ['approval'],
  automations: ['page'],
  members: ['invitations'],
  runs: ['repairs'],
  workers: ['candidates', 'evaluations'],
  workspaces: ['me', 'workspace', 'deleted-workspaces'],
};
const SUMMARY_ROOTS: Record<string, string[]> = {
  runs: ['overview', 'usage', 'workers', 'automations'],
  approvals: ['overview'],
  workers: ['overview'],
  automations: ['overview'],
  workspaces: ['overview', 'usage'],
};

interface PendingRefetch {
  /** Null: any of them. */
  ids: Set<string> | null;
  timer: ReturnType<typeof setTimeout>;
}

export function createQueryInvalidator(client: QueryClient) {
  const pending = new Map<string, PendingRefetch>();
  const refetchedAt = new Map<string, number>();

  function scheduleRefetch(root: string, id: string | undefined, everyMs: number) {
    const scheduled = pending.get(root);
    if (scheduled) {
      if (!id || (scheduled.ids && scheduled.ids.size >= IDS_MAX)) scheduled.ids = null;
      else scheduled.ids?.add(id);
      return;
    }
    const waitMs = Math.max(DEBOUNCE_MS, (refetchedAt.get(root) ?? 0) + everyMs - Date.now());
    const refetch = () => {
      const { ids = null } = pending.get(root) ?? {};
      const stale = client.getQueryCache().findAll({ predicate: (query) => isQueryAffected(query, root, ids) });
      if (stale.some(({ state }) => state.fetchStatus === 'fetching')) {
        pending.set(root, { ids, timer: setTimeout(refetch, REFETCH_INTERVAL_MS) });
        return;
      }
      pending.delete(root);
      refetchedAt.set(root, Date.now());
      void client.invalidateQueries({ predicate: (query) => stale.includes(query) });
    };
    pending.set(root, { ids: id ? new Set([id]) : null, timer: setTimeout(refetch, waitMs) });
  }

  return {
    handleChange({ noun, id }: ChangeHint): void {
      for (const root of [noun, ...(RELATED_ROOTS[noun] ?? [])]) scheduleRefetch(root, id, REFETCH_INTERVAL_MS);
      for (const root of SUMMARY_ROOTS[noun] ?? []) scheduleRefetch(root, undefined, SUMMARY_INTERVAL_MS);
    },
    /** Everything may have changed. */
    reset(): void {
      void client.invalidateQueries();
    },
    stop(): void {
      for (const { timer } of pending.values()) clearTimeout(timer);
      pending.clear();
    },
  };
}

/** Whether a query shows one of the ids. Ids of one kind are equally long, which identifies those in its key. */
function isQueryAffected({ queryKey }: Query, root: string, ids: Set<string> | null): boolean {
  if (queryKey[0] !== root) return false;
  if (!ids) return true;
  const [example = ''] = ids;
  const resourceIds = queryKey.filter(
    (part): part is string =>
      typeof part === 'string' && part.length === example.length && part.slice(0, 4) === example.slice(0, 4),
  );
  return !resourceIds.length || resourceIds.some((part) => ids.has(part));
}
