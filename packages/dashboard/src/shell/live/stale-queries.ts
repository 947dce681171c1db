/**
 * Refetches queries of changed resources. However often they change, each noun is refetched at most every
 * REFETCH_INTERVAL_MS, and never while the last refetch is in progress: a busy workspace must not keep a page from
 * ever being shown.
 */
import type { Query, QueryClient } from '@tanstack/react-query';

export interface Change {
  noun: string;
  /** Absent: any of them. */
  id?: string;
}

const SOON_MS = 100;
const AGAIN_MS = 1_000;
/** Summary queries are refetched less often. */
const SUMMARY_AGAIN_MS = 5_000;
/** With more changes than this at once, their ids no longer matter. */
const IDS_MAX = 50;

/** First parts of the query keys that show a noun, beside the noun itself. */
const SHOWN_AS: Record<string, string[]> = {
  approvals: ['approval'],
  automations: ['page'],
  members: ['invitations'],
  runs: ['repairs'],
  workers: ['candidates', 'evaluations'],
  workspaces: ['me', 'workspace', 'deleted-workspaces'],
};
const SUMMARIES: Record<string, string[]> = {
  runs: ['overview', 'usage', 'workers', 'automations'],
  approvals: ['overview'],
  workers: ['overview'],
  automations: ['overview'],
  workspaces: ['overview', 'usage'],
};

interface Due {
  /** Null: any of them. */
  ids: Set<string> | null;
  timer: ReturnType<typeof setTimeout>;
}

export function createStaleQueries(client: QueryClient) {
  const due = new Map<string, Due>();
  const readAt = new Map<string, number>();

  function readSoon(root: string, id: string | undefined, everyMs: number) {
    const waiting = due.get(root);
    if (waiting) {
      if (!id || (waiting.ids && waiting.ids.size >= IDS_MAX)) waiting.ids = null;
      else waiting.ids?.add(id);
      return;
    }
    const waitMs = Math.max(SOON_MS, (readAt.get(root) ?? 0) + everyMs - Date.now());
    const read = () => {
      const { ids = null } = due.get(root) ?? {};
      const stale = client.getQueryCache().findAll({ predicate: (query) => shows(query, root, ids) });
      if (stale.some(({ state }) => state.fetchStatus === 'fetching')) {
        due.set(root, { ids, timer: setTimeout(read, AGAIN_MS) });
        return;
      }
      due.delete(root);
      readAt.set(root, Date.now());
      void client.invalidateQueries({ predicate: (query) => stale.includes(query) });
    };
    due.set(root, { ids: id ? new Set([id]) : null, timer: setTimeout(read, waitMs) });
  }

  return {
    changed({ noun, id }: Change): void {
      for (const root of [noun, ...(SHOWN_AS[noun] ?? [])]) readSoon(root, id, AGAIN_MS);
      for (const root of SUMMARIES[noun] ?? []) readSoon(root, undefined, SUMMARY_AGAIN_MS);
    },
    /** Everything may have changed. */
    reset(): void {
      void client.invalidateQueries();
    },
    stop(): void {
      for (const { timer } of due.values()) clearTimeout(timer);
      due.clear();
    },
  };
}

/** Whether a query shows one of the ids. Ids of one kind are equally long, which identifies those in its key. */
function shows({ queryKey }: Query, root: string, ids: Set<string> | null): boolean {
  if (queryKey[0] !== root) return false;
  if (!ids) return true;
  const [example = ''] = ids;
  const named = queryKey.filter(
    (part): part is string =>
      typeof part === 'string' && part.length === example.length && part.slice(0, 4) === example.slice(0, 4),
  );
  return !named.length || named.some((part) => ids.has(part));
}
