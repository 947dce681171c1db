/**
 * Streams the changes of workspaces to their readers on this replica: one subscription for all workspaces, one
 * rendering for all streams of one.
 *
 * The id of an event is the time until which this replica has sent everything, and the name of the replica. A repeated
 * change is harmless: it is only refetched. So a reader that comes from another replica, whose clock differs and which
 * may have received a change earlier, is sent everything since OVERLAP_MS before. A replica that cannot tell which
 * changes were missed sends `reset`, and the reader refetches everything.
 */
import { type Bus, changeHints, changesSubject, listen, newId } from '@gantry/events';
import type { Response } from 'express';
import type { Logger } from 'pino';
import { type Change, createChangeMemory } from './change-memory';

const COALESCE_MS = 250;
const HEARTBEAT_MS = 15_000;
/** Clocks of replicas may each be a minute off that of NATS before readiness fails. */
const OVERLAP_MS = 2 * 60_000;
/** A reader without a position has just loaded its pages. */
const JUST_NOW_MS = 10_000;
/** A reader this far behind is disconnected, and reconnects. */
const UNSENT_BYTES_MAX = 256 << 10;

export type ChangeHub = Awaited<ReturnType<typeof createChangeHub>>;

interface Audience {
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
  const now = (): number => {
    latest = Math.max(latest, readClock());
    return latest;
  };
  const replica = newId('').slice(0, 8);
  const memory = createChangeMemory(now());
  const audiences = new Map<string, Audience>();
  let closed = false;

  const subscription = listen(
    bus,
    changesSubject('*'),
    changeHints,
    ({ lost, changes }) => {
      if (lost) resetAll();
      for (const [workspaceId, noun, id] of changes) {
        memory.note(workspaceId, { noun, id }, now());
        scheduleFlush(workspaceId);
      }
    },
    { log },
  );
  await bus.nc.flush();
  // The server has the subscription only now.
  memory.forget(now());
  const heartbeat = setInterval(() => {
    memory.prune(now());
    for (const { readers, flushing, sentUntil } of audiences.values()) {
      broadcast(readers, formatPosition(flushing ? sentUntil : now()));
    }
  }, HEARTBEAT_MS);
  void (async () => {
    for await (const { type } of bus.nc.status()) if (type === 'reconnect') resetAll();
  })();

  const formatEventId = (sentUntil: number) => `id: ${sentUntil}-${replica}\n`;
  /** Formats a comment for raw readers, and an id without an event for EventSource. */
  const formatPosition = (sentUntil: number) => `: ${sentUntil}-${replica}\n${formatEventId(sentUntil)}\n`;

  /** @param changes null: unknown */
  function render(changes: Change[] | null): string {
    const id = formatEventId(now());
    if (!changes) return `${id}event: reset\ndata: {}\n\n`;
    return changes
      .map(
        (change) =>
          `${id}event: change\ndata: ${JSON.stringify(change.id === null ? { noun: change.noun } : change)}\n\n`,
      )
      .join('');
  }

  function resetAll() {
    memory.forget(now());
    for (const workspaceId of audiences.keys()) scheduleFlush(workspaceId);
  }

  function scheduleFlush(workspaceId: string) {
    const audience = audiences.get(workspaceId);
    if (!audience) return;
    audience.flushing ??= setTimeout(() => {
      audience.flushing = undefined;
      const since = audience.sentUntil;
      audience.sentUntil = now();
      broadcast(audience.readers, render(memory.since(workspaceId, since)));
    }, COALESCE_MS);
  }

  function broadcast(readers: Iterable<Response>, text: string) {
    const bytes = Buffer.from(text);
    for (const reader of readers) {
      if (!bytes.length || reader.closed || reader.writableEnded) continue;
      if (reader.writableLength > UNSENT_BYTES_MAX) reader.destroy();
      else reader.write(bytes);
    }
  }

  /** Returns the time from which changes are sent. */
  function parsePosition(lastEventId: string | undefined): number {
    const [, at, by] = /^(\d{13})-([\w-]{1,16})$/.exec(lastEventId ?? '') ?? [];
    if (lastEventId === undefined) return now() - JUST_NOW_MS;
    return at === undefined ? 0 : Number(at) - (by === replica ? 0 : OVERLAP_MS);
  }

  return {
    /** Streams until the response is closed. @param lastEventId absent: only the last seconds may have been missed */
    watch(workspaceId: string, reader: Response, lastEventId: string | undefined): void {
      if (closed) return void reader.end();
      const audience: Audience = audiences.get(workspaceId) ?? { readers: new Set(), sentUntil: now() };
      audiences.set(workspaceId, audience);
      audience.readers.add(reader);
      reader.once('close', () => {
        audience.readers.delete(reader);
        if (audience.readers.size) return;
        clearTimeout(audience.flushing);
        audiences.delete(workspaceId);
      });
      broadcast([reader], `${formatPosition(now())}${render(memory.since(workspaceId, parsePosition(lastEventId)))}`);
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
