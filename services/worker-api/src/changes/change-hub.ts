/**
 * Streams the changes of workspaces to their readers on this replica: one subscription for all workspaces, one
 * rendering for all streams of one.
 *
 * The id of an event is the time until which this replica has sent everything, and the name of the replica. A repeated
 * change is harmless: it is only refetched. So a reader that comes from another replica, whose clock differs and which
 * may have received a change earlier, is sent everything since CLOCK_SKEW_MS before. A replica that cannot tell which
 * changes were missed sends `reset`, and the reader refetches everything.
 */
import { type Bus, buildChangesSubject, changeHints, listen, newId } from '@gantry/events';
import type { Response } from 'express';
import type { Logger } from 'pino';
import { type Change, createChangeMemory } from './change-memory';

const COALESCE_MS = 250;
const HEARTBEAT_MS = 15_000;
/** Clocks of replicas may each be a minute off that of NATS before readiness fails. */
const CLOCK_SKEW_MS = 2 * 60_000;
/** A reader without a position has just loaded its pages. */
const INITIAL_LOOKBACK_MS = 10_000;
/** A reader this far behind is disconnected, and reconnects. */
const BUFFERED_BYTES_MAX = 256 << 10;

export type ChangeHub = Awaited<ReturnType<typeof createChangeHub>>;

interface WorkspaceSubscribers {
  readers: Set<Response>;
  /** Changes noted before this time have been sent. */
  sentUntil: number;
  flushing?: NodeJS.Timeout | undefined;
}

export async function createChangeHub({
  bus,
  log,
  now: readClock = Date.now,
}: {
  bus: Bus;
  log: Logger;
  now?: () => number;
}) {
  let latest = 0;
  /** Monotonic: stands still while a clock that was set back catches up, so no change is older than sent ones. */
  const readMonotonicClock = (): number => {
    latest = Math.max(latest, readClock());
    return latest;
  };
  const replica = newId('').slice(0, 8);
  const memory = createChangeMemory(readMonotonicClock());
  const audiences = new Map<string, WorkspaceSubscribers>();
  let closed = false;

  const subscription = listen(
    bus,
    buildChangesSubject('*'),
    changeHints,
    ({ lost, changes }) => {
      if (lost) resetAllWorkspaces();
      for (const [workspaceId, noun, id] of changes) {
        memory.note(workspaceId, { noun, id }, readMonotonicClock());
        scheduleFlush(workspaceId);
      }
    },
    { log },
  );
  await bus.nc.flush();
  // The server has the subscription only now.
  memory.forget(readMonotonicClock());
  const heartbeat = setInterval(() => {
    memory.prune(readMonotonicClock());
    for (const { readers, flushing, sentUntil } of audiences.values()) {
      broadcast(readers, formatPosition(flushing ? sentUntil : readMonotonicClock()));
    }
  }, HEARTBEAT_MS);
  void (async () => {
    for await (const { type } of bus.nc.status()) if (type === 'reconnect') resetAllWorkspaces();
  })();

  const formatEventId = (sentUntil: number) => `id: ${sentUntil}-${replica}\n`;
  /** Formats a comment for raw readers, and an id without an event for EventSource. */
  const formatPosition = (sentUntil: number) => `: ${sentUntil}-${replica}\n${formatEventId(sentUntil)}\n`;

  /** @param changes null: unknown */
  function formatChanges(changes: Change[] | null): string {
    const id = formatEventId(readMonotonicClock());
    if (!changes) return `${id}event: reset\ndata: {}\n\n`;
    return changes
      .map(
        (change) =>
          `${id}event: change\ndata: ${JSON.stringify(change.id === null ? { noun: change.noun } : change)}\n\n`,
      )
      .join('');
  }

  function resetAllWorkspaces() {
    memory.forget(readMonotonicClock());
    for (const workspaceId of audiences.keys()) scheduleFlush(workspaceId);
  }

  function scheduleFlush(workspaceId: string) {
    const audience = audiences.get(workspaceId);
    if (!audience) return;
    audience.flushing ??= setTimeout(() => {
      audience.flushing = undefined;
      const since = audience.sentUntil;
      audience.sentUntil = readMonotonicClock();
      broadcast(audience.readers, formatChanges(memory.since(workspaceId, since)));
    }, COALESCE_MS);
  }

  function broadcast(readers: Iterable<Response>, text: string) {
    const bytes = Buffer.from(text);
    for (const reader of readers) {
      if (!bytes.length || reader.closed || reader.writableEnded) continue;
      if (reader.writableLength > BUFFERED_BYTES_MAX) reader.destroy();
      else reader.write(bytes);
    }
  }

  /** Returns the time from which changes are sent. */
  function parsePosition(lastEventId: string | undefined): number {
    const [, at, by] = /^(\d{13})-([\w-]{1,16})$/.exec(lastEventId ?? '') ?? [];
    if (lastEventId === undefined) return readMonotonicClock() - INITIAL_LOOKBACK_MS;
    return at === undefined ? 0 : Number(at) - (by === replica ? 0 : CLOCK_SKEW_MS);
  }

  return {
    /** Streams until the response is closed. @param lastEventId absent: only the last seconds may have been missed */
    watch(workspaceId: string, reader: Response, lastEventId: string | undefined): void {
      if (closed) return void reader.end();
      const audience: WorkspaceSubscribers = audiences.get(workspaceId) ?? {
        readers: new Set(),
        sentUntil: readMonotonicClock(),
      };
      audiences.set(workspaceId, audience);
      audience.readers.add(reader);
      reader.once('close', () => {
        audience.readers.delete(reader);
        if (audience.readers.size) return;
        clearTimeout(audience.flushing);
        audiences.delete(workspaceId);
      });
      broadcast(
        [reader],
        `${formatPosition(readMonotonicClock())}${formatChanges(memory.since(workspaceId, parsePosition(lastEventId)))}`,
      );
    },
    /** Ends all streams; their readers reconnect to another replica. */
    close(): void {
      closed = true;
      subscription.unsubscribe();
      clearInterval(heartbeat);
      for (const { readers, flushing } of audiences.values()) {
        clearTimeout(flushing);
        for (const reader of readers) reader.end();
      }
    },
  };
}
