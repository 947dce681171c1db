/**
 * One stream of the workspace's changes for this tab, while it is seen. A hidden tab holds no connection; shown again, it
 * asks for what it has missed.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { authorizedFetch, workerBaseUrl } from '../api';
import { readEventStream, type StreamEvent } from '../event-stream';
import { session } from '../session';
import { setConnection } from './connection';
import { type Change, createStaleQueries } from './stale-queries';

/** Looking at another tab for a moment breaks nothing off. */
const HIDDEN_MS = 5_000;
/** An interruption that is over within this time is not shown. */
const HICCUP_MS = 3_000;
/** The server says something every 15 s: one that is silent for longer is gone without a word. */
const SILENT_MS = 40_000;
/** After a refusal: the session has ended, or the server has no such stream. */
const REFUSED_MS = 60_000;
/** Spreads the requests when a server tells all tabs at once to read everything again. */
const SPREAD_MS = 1_000;

export default function FollowChanges({ workspaceId }: { workspaceId: string }) {
  const client = useQueryClient();
  useEffect(() => {
    const stale = createStaleQueries(client);
    let lastEventId: string | null = null;
    let reading: AbortController | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let hiccup: ReturnType<typeof setTimeout> | undefined;
    let silence: ReturnType<typeof setTimeout> | undefined;

    function hear({ event, data }: StreamEvent) {
      if (event === 'change') stale.changed(JSON.parse(data) as Change);
      if (event === 'reset') setTimeout(stale.reset, Math.random() * SPREAD_MS);
    }

    function interrupted() {
      hiccup ??= setTimeout(() => setConnection('offline'), HICCUP_MS);
    }

    function alive() {
      clearTimeout(silence);
      silence = setTimeout(again, SILENT_MS);
    }

    function connected() {
      clearTimeout(hiccup);
      hiccup = undefined;
      setConnection('live');
      alive();
    }

    function start() {
      clearTimeout(timer);
      if (reading) return;
      const stop = new AbortController();
      reading = stop;
      readEventStream({
        connect: (last) => connect(workspaceId, last, stop.signal),
        lastEventId,
        onOpen: connected,
        onEvents: (events) => events.forEach(hear),
        onId: (id) => {
          lastEventId = id;
          alive();
        },
        idOfComment: (comment) => comment.trim() || null,
        onInterrupted: interrupted,
        signal: stop.signal,
      }).catch(() => {
        if (reading !== stop) return;
        reading = null;
        timer = setTimeout(start, REFUSED_MS);
      });
    }

    function pause() {
      clearTimeout(timer);
      clearTimeout(hiccup);
      clearTimeout(silence);
      hiccup = undefined;
      reading?.abort();
      reading = null;
    }

    function seenOrNot() {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(pause, HIDDEN_MS);
      else start();
    }

    function again() {
      if (document.hidden) return;
      pause();
      start();
    }

    seenOrNot();
    document.addEventListener('visibilitychange', seenOrNot);
    window.addEventListener('online', again);
    window.addEventListener('offline', interrupted);
    return () => {
      document.removeEventListener('visibilitychange', seenOrNot);
      window.removeEventListener('online', again);
      window.removeEventListener('offline', interrupted);
      pause();
      stale.stop();
      setConnection('connecting');
    };
  }, [client, workspaceId]);
  return null;
}

async function connect(workspaceId: string, lastEventId: string | null, signal: AbortSignal): Promise<Response> {
  const headers = new Headers({ Accept: 'text/event-stream', 'x-svc-workspace': workspaceId });
  const token = await session.token();
  if (token) headers.set('Authorization', `Bearer ${token}`);
  if (lastEventId) headers.set('Last-Event-ID', lastEventId);
  return authorizedFetch(new Request(`${await workerBaseUrl()}/api/events`, { headers, signal }));
}
