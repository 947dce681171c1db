import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { type KnownRuns, merged, withFirst, withOlder } from './known-runs';
import { isAsked, isGone, type RunsPage, readRuns } from './read-runs';
import type { RunRow } from './run-row';
import { type RunsFilter, type Surface, searchOf } from './runs-filter';

const nothing = () => {};
const NOTHING: KnownRuns = { rows: [], next: null };

export interface Runs {
  /** Undefined until the first page is loaded. */
  rows: RunRow[] | undefined;
  error: Error | null;
  retry: () => void;
  hasOlder: boolean;
  readOlder: () => void;
}

/** Loads the runs of one filter; remount it for another. Live events refetch only the first page. */
export function useRuns(workspaceId: string | undefined, filter: RunsFilter): Runs {
  const worker = useSurfaceRuns('worker', workspaceId, filter);
  const automation = useSurfaceRuns('automation', workspaceId, filter);
  const both = [worker, automation];
  const known = both.flatMap((surface) => (surface.known ? [surface.known] : []));
  const { rows, readOn } = merged(known);
  const failed = both.find(({ error }) => error !== null);
  const readOlder = both.find((surface) => surface.known === readOn)?.readOlder ?? nothing;
  return {
    rows: known.length === both.length ? rows : undefined,
    error: failed?.error ?? null,
    retry: () => failed?.retry(),
    hasOlder: readOn !== null,
    readOlder,
  };
}

function useSurfaceRuns(surface: Surface, workspaceId: string | undefined, filter: RunsFilter) {
  const asked = isAsked(surface, filter);
  const [known, setKnown] = useState<KnownRuns | null>(asked ? null : NOTHING);
  const [olderError, setOlderError] = useState<Error | null>(null);
  const first = useQuery({
    queryKey: ['runs', workspaceId, 'list', surface, `${searchOf(filter)}`],
    enabled: asked && workspaceId !== undefined,
    queryFn: () => readOrNone(() => readRuns[surface](filter, null)),
  });
  const { data, refetch } = first;
  useEffect(() => {
    if (data) setKnown((before) => withFirst(before, data));
  }, [data]);

  const reading = useRef(false);
  const next = known?.next ?? null;
  const readOlder = useCallback(async () => {
    if (reading.current || next === null) return;
    reading.current = true;
    setOlderError(null);
    try {
      const page = await readRuns[surface](filter, next);
      // The list may have started over in the meantime.
      setKnown((before) => (before && before.next === next ? withOlder(before, page) : before));
    } catch (error) {
      setOlderError(error as Error);
    } finally {
      reading.current = false;
    }
  }, [surface, filter, next]);

  return {
    known,
    readOlder,
    error: known === null ? first.error : olderError,
    retry: () => void (known === null ? refetch() : readOlder()),
  };
}

async function readOrNone(read: () => Promise<RunsPage>): Promise<RunsPage> {
  try {
    return await read();
  } catch (error) {
    if (isGone(error)) return { rows: [], next: null };
    throw error;
  }
}
