import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { isNotFound, matchesSurface, type RunsPage, runLoaders } from './load-runs';
import { appendOlderPage, type LoadedRuns, mergeFirstPage, mergeSurfaces } from './loaded-runs';
import type { RunRow } from './run-row';
import { type RunsFilter, type Surface, toSearchParams } from './runs-filter';

const noop = () => {};
const NO_RUNS: LoadedRuns = { rows: [], next: null };

export interface RunsResult {
  /** Undefined until the first page is loaded. */
  rows: RunRow[] | undefined;
  error: Error | null;
  retry: () => void;
  hasOlder: boolean;
  loadOlder: () => void;
}

/** Loads the runs of one filter; remount it for another. Live events refetch only the first page. */
export function useRuns(workspaceId: string | undefined, filter: RunsFilter): RunsResult {
  const worker = useSurfaceRuns('worker', workspaceId, filter);
  const automation = useSurfaceRuns('automation', workspaceId, filter);
  const both = [worker, automation];
  const loaded = both.flatMap((surface) => (surface.known ? [surface.known] : []));
  const { rows, nextToLoad } = mergeSurfaces(loaded);
  const failed = both.find(({ error }) => error !== null);
  const loadOlder = both.find((surface) => surface.known === nextToLoad)?.readOlder ?? noop;
  return {
    rows: loaded.length === both.length ? rows : undefined,
    error: failed?.error ?? null,
    retry: () => failed?.retry(),
    hasOlder: nextToLoad !== null,
    loadOlder,
  };
}

function useSurfaceRuns(surface: Surface, workspaceId: string | undefined, filter: RunsFilter) {
  const isMatching = matchesSurface(surface, filter);
  const [loaded, setKnown] = useState<LoadedRuns | null>(isMatching ? null : NO_RUNS);
  const [olderError, setOlderError] = useState<Error | null>(null);
  const first = useQuery({
    queryKey: ['runs', workspaceId, 'list', surface, `${toSearchParams(filter)}`],
    enabled: isMatching && workspaceId !== undefined,
    queryFn: () => loadPageOrEmpty(() => runLoaders[surface](filter, null)),
  });
  const { data, refetch } = first;
  useEffect(() => {
    if (data) setKnown((before) => mergeFirstPage(before, data));
  }, [data]);

  const isLoading = useRef(false);
  const next = loaded?.next ?? null;
  const loadOlder = useCallback(async () => {
    if (isLoading.current || next === null) return;
    isLoading.current = true;
    setOlderError(null);
    try {
      const page = await runLoaders[surface](filter, next);
      // The list may have started over in the meantime.
      setKnown((before) => (before && before.next === next ? appendOlderPage(before, page) : before));
    } catch (error) {
      setOlderError(error as Error);
    } finally {
      isLoading.current = false;
    }
  }, [surface, filter, next]);

  return {
    known: loaded,
    readOlder: loadOlder,
    error: loaded === null ? first.error : olderError,
    retry: () => void (loaded === null ? refetch() : loadOlder()),
  };
}

async function loadPageOrEmpty(load: () => Promise<RunsPage>): Promise<RunsPage> {
  try {
    return await load();
  } catch (error) {
    if (isNotFound(error)) return { rows: [], next: null };
    throw error;
  }
}
