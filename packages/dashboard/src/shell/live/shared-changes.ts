/**
 * Shares one stream of a workspace's changes among all tabs of a browser, which allows six connections to a host over
 * HTTP/1.1.
 *
 * The visible tab that was shown last leads: it reads the stream and passes it on over a BroadcastChannel. It resumes
 * at the last position it knows, so a tab that comes back misses nothing, and the former leader stops only when the
 * new stream is open. Events that are read twice meanwhile do no harm. A leader that leaves says so, and one that
 * falls silent is replaced.
 */

import { readEventStream, type StreamEvent } from '@gantry/sdk';
import { getWorkerBaseUrl } from '../api';
import { openEventStream } from '../open-event-stream';
import { createTabId } from '../tab-id';

/** A tab hidden for less than this keeps its stream. */
const HIDDEN_GRACE_MS = 5_000;
const LEADER_HEARTBEAT_MS = 5_000;
const LEADER_TIMEOUT_MS = 12_000;
/** Spreads the tabs that would replace a leader. */
const ELECTION_JITTER_MS = 250;
/** The server sends at least a comment every 15 s: a stream that is silent for longer is dead. */
const STREAM_TIMEOUT_MS = 40_000;
/** After a refusal: the session has ended, or the server has no such stream. */
const REFUSED_RETRY_MS = 60_000;

type TabMessage =
  | { type: 'leading'; since: number; tab: string; isConnected: boolean }
  | { type: 'event'; event: StreamEvent }
  | { type: 'position'; lastEventId: string }
  | { type: 'left' };

interface SharedChangesOptions {
  workspaceId: string;
  onEvent: (event: StreamEvent) => void;
  /** Whether the tab that reads has a connection at the moment. */
  onConnection: (isConnected: boolean) => void;
}

/** @returns stops following */
export function subscribeToSharedChanges({ workspaceId, onEvent, onConnection }: SharedChangesOptions): () => void {
  const tab = createTabId();
  let channel: BroadcastChannel | null = null;
  let lastEventId: string | null = null;
  let leadingSince = 0;
  let reading: AbortController | null = null;
  let isConnected = false;
  let hideTimer: ReturnType<typeof setTimeout> | undefined;
  let leadTimer: ReturnType<typeof setTimeout> | undefined;
  let signTimer: ReturnType<typeof setInterval> | undefined;
  let streamTimer: ReturnType<typeof setTimeout> | undefined;

  const send = (message: TabMessage) => channel?.postMessage(message);
  const sendLeaderHeartbeat = () => send({ type: 'leading', since: leadingSince, tab, isConnected });

  function setConnected(next: boolean) {
    isConnected = next;
    onConnection(next);
    sendLeaderHeartbeat();
  }

  function scheduleTakeover(ms: number) {
    clearTimeout(leadTimer);
    leadTimer = setTimeout(becomeLeader, ms);
  }

  function becomeLeader() {
    clearTimeout(leadTimer);
    stopStream();
    leadingSince = Date.now();
    signTimer = setInterval(sendLeaderHeartbeat, LEADER_HEARTBEAT_MS);
    startStream();
  }

  function startStream() {
    const controller = new AbortController();
    reading = controller;
    const resetSilenceTimer = () => {
      clearTimeout(streamTimer);
      streamTimer = setTimeout(becomeLeader, STREAM_TIMEOUT_MS);
    };
    readEventStream({
      connect: async (position, signal) =>
        openEventStream(`${await getWorkerBaseUrl()}/api/events`, position, signal, workspaceId),
      lastEventId,
      onOpen() {
        setConnected(true);
        resetSilenceTimer();
      },
      onEvents(events) {
        for (const event of events) {
          onEvent(event);
          send({ type: 'event', event });
        }
      },
      onId(id) {
        lastEventId = id;
        send({ type: 'position', lastEventId: id });
        resetSilenceTimer();
      },
      parseCommentId: (comment) => comment.trim() || null,
      onInterrupted: () => setConnected(false),
      signal: controller.signal,
    }).catch(() => {
      if (reading !== controller) return;
      stopStream();
      scheduleTakeover(REFUSED_RETRY_MS);
    });
  }

  function stopStream() {
    clearInterval(signTimer);
    clearTimeout(streamTimer);
    reading?.abort();
    reading = null;
    isConnected = false;
  }

  function handleLeader(leader: Extract<TabMessage, { type: 'leading' }>) {
    if (reading) {
      const isLater = leader.since > leadingSince || (leader.since === leadingSince && leader.tab > tab);
      if (!isLater) return sendLeaderHeartbeat();
      if (!leader.isConnected) return;
      stopStream();
    }
    onConnection(leader.isConnected);
    scheduleTakeover(LEADER_TIMEOUT_MS);
  }

  function handleMessage(message: TabMessage) {
    if (message.type === 'leading') handleLeader(message);
    else if (message.type === 'left') {
      if (!reading) scheduleTakeover(Math.random() * ELECTION_JITTER_MS);
    } else if (!reading) {
      if (message.type === 'event') onEvent(message.event);
      else lastEventId = message.lastEventId;
      scheduleTakeover(LEADER_TIMEOUT_MS);
    }
  }

  function joinChannel() {
    clearTimeout(hideTimer);
    if (channel) return;
    channel = new BroadcastChannel(`gantry-changes-${workspaceId}`);
    channel.onmessage = ({ data }: MessageEvent<TabMessage>) => handleMessage(data);
    becomeLeader();
  }

  function leaveChannel() {
    clearTimeout(hideTimer);
    clearTimeout(leadTimer);
    if (reading) send({ type: 'left' });
    stopStream();
    channel?.close();
    channel = null;
  }

  function handleVisibility() {
    if (!document.hidden) return joinChannel();
    clearTimeout(hideTimer);
    hideTimer = setTimeout(leaveChannel, HIDDEN_GRACE_MS);
  }
  const handleOnline = () => reading && becomeLeader();
  const handleOffline = () => reading && setConnected(false);
  const handlePageShow = () => !document.hidden && joinChannel();

  if (!document.hidden) joinChannel();
  document.addEventListener('visibilitychange', handleVisibility);
  window.addEventListener('online', handleOnline);
  window.addEventListener('offline', handleOffline);
  // A page that the back/forward cache keeps holds neither a connection nor a channel.
  window.addEventListener('pagehide', leaveChannel);
  window.addEventListener('pageshow', handlePageShow);
  return () => {
    document.removeEventListener('visibilitychange', handleVisibility);
    window.removeEventListener('online', handleOnline);
    window.removeEventListener('offline', handleOffline);
    window.removeEventListener('pagehide', leaveChannel);
    window.removeEventListener('pageshow', handlePageShow);
    leaveChannel();
  };
}
