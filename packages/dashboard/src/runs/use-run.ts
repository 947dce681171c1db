import { readEventStream } from '@gantry/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { acquireStreamSlot } from '../shell/stream-slots';
import { throttleToFrame } from '../ui/throttle-to-frame';
import { applyEvents, EMPTY_LIVE_RUN, type LiveRun } from './live-run';
import { createLogStore, type LogStore } from './log/log-store';
import { createRequestStore, type RequestStore } from './requests/request-store';

/** Polling interval while no stream is available. */
const POLL_MS = 3_000;

/** Its caller must memoize it: a different object starts a new stream. */
export interface RunSource<R> {
  queryKey: readonly unknown[];
  /** Key of the queries to invalidate when the run ends. */
  endsWith: readonly unknown[];
  get: () => Promise<R>;
  isOver: (run: R) => boolean;
  connect: (lastEventId: string | null, signal: AbortSignal) => Promise<Response>;
}

/**
 * Follows a run live until it ends. For a finished run, the stream replays the same events: lines with their
 * times, levels and fields, of which the run itself has the text alone, or nothing.
 */
export function useRun<R>(source: RunSource<R>) {
  const queryClient = useQueryClient();
  const [live, setLive] = useState<LiveRun>(EMPTY_LIVE_RUN);
  const [log, setLog] = useState<LogStore>(() => createLogStore());
  const [requests, setRequests] = useState<RequestStore>(createRequestStore);
  const [refused, setRefused] = useState(false);
  const query = useQuery({
    queryKey: source.queryKey,
    queryFn: source.get,
    refetchInterval: ({ state }) => (refused && state.data && !source.isOver(state.data) ? POLL_MS : false),
  });
  const wasOver = useRef<boolean | null>(null);
  if (query.data) wasOver.current ??= source.isOver(query.data);
  const isKnown = wasOver.current !== null;

  useEffect(() => {
    if (!isKnown) return;
    const stop = new AbortController();
    // The effect may run again for the same run: what the stream tells from its beginning is not there twice.
    let state = EMPTY_LIVE_RUN;
    const log = createLogStore();
    const requests = createRequestStore();
    setLog(log);
    setRequests(requests);
    // Events may arrive faster than a screen can show: those of one frame are rendered together.
    const draw = throttleToFrame(() => setLive(state));
    readEventStream({
      connect: source.connect,
      takeTurn: acquireStreamSlot,
      onEvents(events) {
        const { live: next, lines, requests: made } = applyEvents(state, events);
        state = next;
        log.append(lines);
        requests.append(made);
        draw();
      },
      isLast: ({ event }) => event === 'done',
      onInterrupted() {
        state = { ...state, interrupted: true };
        draw();
      },
      signal: stop.signal,
    })
      .then(async () => {
        if (!wasOver.current) await queryClient.invalidateQueries({ queryKey: source.endsWith });
      })
      .catch(() => setRefused(true));
    return () => stop.abort();
  }, [isKnown, source, queryClient]);

  return { query, run: query.data, live, log, requests, watched: wasOver.current === false };
}
