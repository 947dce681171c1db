import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { hasErrorStatus } from '../../shell/api';
import { matchesSurface, type RunsPage, runLoaders } from './load-runs';
import { appendOlderPage, mergeFirstPage, mergeSurfaces } from './loaded-runs';
import { type RunsFilter, type Surface, toSearchParams } from './runs-filter';

const noop = () => {};
const NO_RUNS: RunsPage = { rows: [], next: null };

/** Loads the runs of one filter; remount it for another. Live events refetch only the first page. */
export function useRuns(workspaceId: string | undefined, filter: RunsFilter) {
  const worker = useSurfaceRuns('worker', workspaceId, filter);
  const automation = useSurfaceRuns('automation', workspaceId, filter);
  const both = [worker, automation];
  const loaded = both.flatMap((surface) => surface.loaded ?? []);
  const { rows, nextToLoad } = mergeSurfaces(loaded);
  const failed = both.find(({ error }) => error !== null);
  return {
    /** Undefined until the first page is loaded. */
    rows: loaded.length === both.length ? rows : undefined,
    error: failed?.error ?? null,
    retry: () => failed?.retry(),
    hasOlder: nextToLoad !== null,
    loadOlder: both.find((surface) => surface.loaded === nextToLoad)?.loadOlder ?? noop,
  };
}

function useSurfaceRuns(surface: Surface, workspaceId: string | undefined, filter: RunsFilter) {
  const isMatching = matchesSurface(surface, filter);
  const [loaded, setLoaded] = useState<RunsPage | null>(isMatching ? null : NO_RUNS);
  const [olderError, setOlderError] = useState<Error | null>(null);
  const first = useQuery({
    queryKey: ['runs', workspaceId, 'list', surface, `${toSearchParams(filter)}`],
    enabled: isMatching && workspaceId !== undefined,
    queryFn: () =>
      runLoaders[surface](filter, null).catch((error: unknown) => {
        // A worker or automation that was deleted has no runs.
        if (hasErrorStatus(error, 404)) return NO_RUNS;
        throw error;
      }),
  });
  const { data, refetch } = first;
  useEffect(() => {
    if (data) setLoaded((before) => mergeFirstPage(before, data));
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
      setLoaded((before) => (before && before.next === next ? appendOlderPage(before, page) : before));
    } catch (error) {
      setOlderError(error as Error);
    } finally {
      isLoading.current = false;
    }
  }, [surface, filter, next]);

  return {
    loaded,
    loadOlder,
    error: loaded === null ? first.error : olderError,
    retry: () => void (loaded === null ? refetch() : loadOlder()),
  };
}
