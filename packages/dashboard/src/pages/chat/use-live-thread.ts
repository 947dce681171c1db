import { readEventStream, type StreamOptions } from '@gantry/sdk';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { getWorkerBaseUrl } from '../../shell/api';
import { openEventStream } from '../../shell/open-event-stream';
import { conversationEventsUrl } from '../../shell/paths';
import { acquireStreamSlot } from '../../shell/stream-slots';
import { useWorkspace } from '../../shell/use-me';
import { chatKeys, updateThread } from './chat-queries';
import { applyEvents, type Thread } from './thread';

/** A disconnection is not shown before this time. */
const INTERRUPTION_GRACE_MS = 2_000;
/** The delay before the next attempt while the agent works and its stream has no events. */
const REFETCH_DELAY_MS = 500;

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
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onOpen = () => {
      clearTimeout(timer);
      timer = undefined;
      setInterrupted(false);
    };
    const onInterrupted = () => {
      // Durations cannot be measured across the gap.
      updateThread(client, workspaceId, id, (now) => ({ ...now, lastEventAt: null }));
      timer ??= setTimeout(() => setInterrupted(true), INTERRUPTION_GRACE_MS);
    };
    const refetch = () => client.invalidateQueries({ queryKey: chatKeys.one(workspaceId, id) });
    const { signal } = controller;
    streamThreadEvents(client, workspaceId, id, { signal, onOpen, onInterrupted }).then(
      async (isOver) => {
        if (!isOver) return;
        await refetch();
        timer = setTimeout(() => setRound((last) => last + 1), REFETCH_DELAY_MS);
      },
      // Rejected: the conversation was deleted, or the session has ended. A refetch shows which.
      refetch,
    );
    return () => {
      controller.abort();
      clearTimeout(timer);
      setInterrupted(false);
    };
  }, [client, workspaceId, id, isRunning, round]);
  return { isInterrupted };
}

/** @returns false where the reader left before the agent rested */
async function streamThreadEvents(
  client: QueryClient,
  workspaceId: string | undefined,
  id: string,
  options: Pick<StreamOptions, 'signal' | 'onOpen' | 'onInterrupted'>,
): Promise<boolean> {
  const url = conversationEventsUrl(await getWorkerBaseUrl(), id);
  const getCachedThread = () => client.getQueryData<Thread>(chatKeys.one(workspaceId, id));
  await readEventStream({
    connect: (lastEventId, connection) => openEventStream(url, lastEventId, connection),
    takeTurn: acquireStreamSlot,
    lastEventId: String(getCachedThread()?.last_event_id ?? 0),
    onEvents: (events) => updateThread(client, workspaceId, id, (thread) => applyEvents(thread, events, Date.now())),
    isLast: () => getCachedThread()?.status !== 'running' || getCachedThread()?.isBehind === true,
    ...options,
  });
  return !options.signal.aborted || getCachedThread()?.status !== 'running';
}
