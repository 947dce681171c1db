import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { readEventStream } from '../shell/event-stream';
import { applyEvents, type LiveRun, nothingYet } from './live-run';

/** While no stream is to be had, the run is asked for this often. */
const POLL_MS = 3_000;

/** Memoized by whoever follows it: another one is followed anew. */
export interface RunSource<R> {
  queryKey: readonly unknown[];
  /** Names of all that changes when the run ends. */
  endsWith: readonly unknown[];
  get: () => Promise<R>;
  isOver: (run: R) => boolean;
  connect: (lastEventId: string | null, signal: AbortSignal) => Promise<Response>;
}

/**
 * A run, followed live until it is over. Of one that was over before, the stream tells the same once more: lines with their
 * times, levels and fields, of which the run itself has the text alone, or nothing.
 */
export function useRun<R>(source: RunSource<R>) {
  const queryClient = useQueryClient();
  const [live, setLive] = useState<LiveRun>(nothingYet);
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
    // A talkative run sends more often than a screen can show: what arrives within a frame is drawn at once.
    const draw = inFrames(setLive);
    readEventStream({
      connect: (lastEventId) => source.connect(lastEventId, stop.signal),
      onEvents: (events) => draw((before) => applyEvents(before, events)),
      isLast: ({ event }) => event === 'done',
      onInterrupted: () => draw((before) => ({ ...before, interrupted: true })),
      signal: stop.signal,
    })
      .then(async () => {
        if (!wasOver.current) await queryClient.invalidateQueries({ queryKey: source.endsWith });
      })
      .catch(() => setRefused(true));
    return () => stop.abort();
  }, [isKnown, source, queryClient]);

  return { query, run: query.data, live, watched: wasOver.current === false };
}

type Change = (before: LiveRun) => LiveRun;

function inFrames(apply: (change: Change) => void): (change: Change) => void {
  let waiting: Change[] = [];
  return (change) => {
    waiting.push(change);
    if (waiting.length > 1) return;
    // A hidden tab gets no frames, but its log must not pile up.
    const later = document.hidden ? (work: () => void) => setTimeout(work, 100) : requestAnimationFrame;
    later(() => {
      const changes = waiting;
      waiting = [];
      apply((before) => changes.reduce((state, next) => next(state), before));
    });
  };
}
