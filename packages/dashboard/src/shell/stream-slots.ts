/**
 * Schedules the event streams of runs and conversations. A browser allows six connections to a host over HTTP/1.1, so
 * all of its tabs together hold at most STREAMS_MAX of these open, and beyond that they take turns: each resumes at
 * its last event, so nothing is lost, only late. A hidden tab, and one that the back/forward cache keeps, holds none.
 *
 * Tabs report over a BroadcastChannel which streams they hold and which wait. The bound is a soft one: tabs that
 * decide in the same moment exceed it until they have heard of each other.
 */
import { createTabId } from './tab-id';

const STREAMS_MAX = 3;
const TICK_MS = 1_000;
/** A tab that has reported nothing for this long is gone. */
const TAB_TIMEOUT_MS = 3_500;
/** A stream is open for at least this long before it yields. */
const MIN_OPEN_MS = 4_000;
/** Time for the other tabs to report. */
const REPORT_DELAY_MS = 60;
/** A tab hidden for less than this keeps its streams. */
const HIDDEN_GRACE_MS = 5_000;

interface StreamSlot {
  /** Aborted when the stream has to yield. */
  signal: AbortSignal;
  end: () => void;
}

/** The streams of a tab. */
interface TabStreams {
  /** When each open stream was opened, epoch milliseconds. */
  openedAt: number[];
  /** Since when each of the others has waited. */
  waitingSince: number[];
}
type TabMessage = { type: 'request' } | ({ type: 'report'; tab: string } & TabStreams);

interface Stream {
  waitingSince: number;
  /** Null while it waits. */
  openedAt: number | null;
  open: () => void;
  yieldTurn: () => void;
}

const tab = createTabId();
const streams = new Set<Stream>();
const otherTabs = new Map<string, TabStreams & { reportedAt: number }>();
let channel: BroadcastChannel | null = null;
let ticker: ReturnType<typeof setInterval> | undefined;
let hideTimer: ReturnType<typeof setTimeout> | undefined;
let isWatchingPage = false;
/** The page has been left, and may be kept by the back/forward cache. */
let isPageHidden = false;

/**
 * Waits until this tab is visible and a stream may be opened.
 * @throws the reason of `signal` when it is aborted meanwhile
 */
export function acquireStreamSlot(signal: AbortSignal): Promise<StreamSlot> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const stream: Stream = {
      waitingSince: Date.now(),
      openedAt: null,
      open() {
        stream.openedAt = Date.now();
        signal.removeEventListener('abort', cancel);
        resolve({ signal: controller.signal, end: () => removeStream(stream) });
      },
      yieldTurn() {
        controller.abort();
        removeStream(stream);
      },
    };
    function cancel() {
      removeStream(stream);
      reject(signal.reason);
    }
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', cancel);
    addStream(stream);
  });
}

function addStream(stream: Stream) {
  watchPageVisibility();
  streams.add(stream);
  if (streams.size === 1) {
    ticker = setInterval(tick, TICK_MS);
    connectChannel();
  }
  setTimeout(tick, REPORT_DELAY_MS * (1 + Math.random()));
}

function removeStream(stream: Stream) {
  if (!streams.delete(stream)) return;
  reportStreams();
  if (streams.size === 0) clearInterval(ticker);
}

function connectChannel() {
  if (channel || isPageHidden) return;
  channel = new BroadcastChannel('gantry-stream-turns');
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.type === 'request') reportStreams();
    else {
      otherTabs.set(data.tab, { ...data, reportedAt: Date.now() });
      if (rotateStreamSlots()) reportStreams();
    }
  };
  sendToTabs({ type: 'request' });
}

function disconnectChannel() {
  channel?.close();
  channel = null;
  otherTabs.clear();
}

const sendToTabs = (message: TabMessage) => channel?.postMessage(message);

function getOwnStreams(): TabStreams {
  const openedAt = [...streams].flatMap((stream) => stream.openedAt ?? []);
  const waiting = [...streams].filter((stream) => stream.openedAt === null && !document.hidden);
  return { openedAt, waitingSince: waiting.map((stream) => stream.waitingSince) };
}

function reportStreams() {
  sendToTabs({ type: 'report', tab, ...getOwnStreams() });
}

function tick() {
  rotateStreamSlots();
  reportStreams();
}

/**
 * Opens those that have waited longest while slots are free. Closes those that have been open longest while others
 * wait, and those that were opened last where several tabs have opened one at once.
 * @returns whether anything changed
 */
function rotateStreamSlots(): boolean {
  if (!channel) return false;
  const now = Date.now();
  for (const [id, { reportedAt }] of otherTabs) if (now - reportedAt > TAB_TIMEOUT_MS) otherTabs.delete(id);
  const tabs = [getOwnStreams(), ...otherTabs.values()];
  const openedAt = tabs.flatMap((tabStreams) => tabStreams.openedAt).sort((a, b) => a - b);
  const waitingSince = tabs.flatMap((tabStreams) => tabStreams.waitingSince).sort((a, b) => a - b);
  const free = Math.max(STREAMS_MAX - openedAt.length, 0);
  const lastToOpen = waitingSince[Math.min(free, waitingSince.length) - 1] ?? 0;
  const lastToClose = openedAt[Math.min(waitingSince.length - free, openedAt.length) - 1] ?? 0;
  const firstTooMany = openedAt[STREAMS_MAX] ?? Number.POSITIVE_INFINITY;
  let hasChanged = false;
  for (const stream of [...streams]) {
    if (stream.openedAt === null) {
      if (document.hidden || stream.waitingSince > lastToOpen || now - stream.waitingSince < REPORT_DELAY_MS) continue;
      stream.open();
    } else {
      const isOver = stream.openedAt <= lastToClose && now - stream.openedAt >= MIN_OPEN_MS;
      if (!isOver && stream.openedAt < firstTooMany) continue;
      stream.yieldTurn();
    }
    hasChanged = true;
  }
  return hasChanged;
}

function releaseAllStreamSlots() {
  for (const stream of [...streams]) if (stream.openedAt !== null) stream.yieldTurn();
}

function watchPageVisibility() {
  if (isWatchingPage) return;
  isWatchingPage = true;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hideTimer);
    if (document.hidden) hideTimer = setTimeout(releaseAllStreamSlots, HIDDEN_GRACE_MS);
    else tick();
  });
  window.addEventListener('pagehide', () => {
    isPageHidden = true;
    releaseAllStreamSlots();
    disconnectChannel();
  });
  window.addEventListener('pageshow', () => {
    isPageHidden = false;
    if (streams.size > 0) connectChannel();
  });
}
