import { readEventStream } from '@gantry/sdk';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { connectEvents } from '../../runs/connect-events';
import { workerBaseUrl } from '../../shell/api';
import { conversationEventsUrl } from '../../shell/paths';
import { takeTurn } from '../../shell/stream-turns';
import { useWorkspace } from '../../shell/use-me';
import { changeThread, chatKeys } from './chat-queries';
import { applyEvents, type Thread } from './thread';

/** A disconnection is not shown before this time. */
const HICCUP_MS = 2_000;
/** The delay before the next attempt while the agent works and its stream has no events. */
const AGAIN_MS = 500;

/**
 * Updates a conversation from its event stream while the agent works, starting after the last fetched event. Refetches
 * it when the agent stops.
 * @returns whether the connection is interrupted
 */
export function useLiveThread(thread: Thread | undefined): { isInterrupted: boolean } {
  const client = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  const [isInterrupted, setInterrupted] = useState(false);
  const [round, setRound] = useState(0);
  const id = thread?.id;
  const isRunning = thread?.status === 'running';

  // biome-ignore lint/correctness/useExhaustiveDependencies: a round begins after it was read again.
  useEffect(() => {
    if (!id || !isRunning) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(timer);
      timer = undefined;
      setInterrupted(false);
    };
    const lost = () => {
      // Durations cannot be measured across the gap.
      changeThread(client, workspaceId, id, (now) => ({ ...now, heardAt: null }));
      timer ??= setTimeout(() => setInterrupted(true), HICCUP_MS);
    };
    const readOnce = () => client.invalidateQueries({ queryKey: chatKeys.one(workspaceId, id) });
    follow({ client, workspaceId, id, signal: stop.signal, heard, lost }).then(
      async (isOver) => {
        if (!isOver) return;
        await readOnce();
        timer = setTimeout(() => setRound((last) => last + 1), AGAIN_MS);
      },
      // Rejected: the conversation was deleted, or the session has ended. A refetch shows which.
      readOnce,
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
      setInterrupted(false);
    };
  }, [client, workspaceId, id, isRunning, round]);
  return { isInterrupted };
}

interface Followed {
  client: QueryClient;
  workspaceId: string | undefined;
  id: string;
  signal: AbortSignal;
  heard: () => void;
  lost: () => void;
}

/** @returns false where the reader left before the agent rested */
async function follow({ client, workspaceId, id, signal, heard, lost }: Followed): Promise<boolean> {
  const url = conversationEventsUrl(await workerBaseUrl(), id);
  const held = () => client.getQueryData<Thread>(chatKeys.one(workspaceId, id));
  await readEventStream({
    connect: (lastEventId, connection) => connectEvents(url, lastEventId, connection),
    takeTurn,
    lastEventId: String(held()?.last_event_id ?? 0),
    onOpen: heard,
    onEvents: (events) => changeThread(client, workspaceId, id, (thread) => applyEvents(thread, events, Date.now())),
    isLast: () => held()?.status !== 'running' || held()?.isBehind === true,
    onInterrupted: lost,
    signal,
  });
  return !signal.aborted || held()?.status !== 'running';
}
