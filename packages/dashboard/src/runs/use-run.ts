import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Run } from '../shell/api';
import { readEventStream } from './event-stream';
import { applyEvents, type LiveRun, nothingYet } from './live-run';
import type { RunApi } from './run-api';
import { runKeys } from './run-keys';

export const isOver = (run: Pick<Run, 'status'>): boolean => run.status !== 'pending' && run.status !== 'running';

/** While no stream is to be had, the run is asked for this often. */
const POLL_MS = 3_000;

/**
 * A run, followed live until it is over. Of one that was over before, the stream tells the same once more: lines with their
 * times, levels and fields, of which the run itself has the text alone.
 */
export function useRun(runs: RunApi, automationId: string, runId: string) {
  const queryClient = useQueryClient();
  const [live, setLive] = useState<LiveRun>(nothingYet);
  const [refused, setRefused] = useState(false);
  const query = useQuery({
    queryKey: runKeys.one(automationId, runId),
    queryFn: () => runs.get(runId),
    refetchInterval: ({ state }) => (refused && state.data && !isOver(state.data) ? POLL_MS : false),
  });
  const wasOver = useRef<boolean | null>(null);
  if (query.data) wasOver.current ??= isOver(query.data);
  const isKnown = wasOver.current !== null;

  useEffect(() => {
    if (!isKnown) return;
    const stop = new AbortController();
    // A talkative run sends more often than a screen can show: what arrives within a frame is drawn at once.
    const draw = inFrames(setLive);
    readEventStream({
      connect: (lastEventId) => runs.connect(runId, lastEventId, stop.signal),
      onEvents: (events) => draw((before) => applyEvents(before, events)),
      isLast: ({ event }) => event === 'done',
      onInterrupted: () => draw((before) => ({ ...before, interrupted: true })),
      signal: stop.signal,
    })
      .then(async () => {
        if (!wasOver.current) await queryClient.invalidateQueries({ queryKey: runKeys.all(automationId) });
      })
      .catch(() => setRefused(true));
    return () => stop.abort();
  }, [isKnown, runs, automationId, runId, queryClient]);

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
