/**
 * The changes of workspaces for all who watch them on this replica: one subscription for all workspaces, one rendering
 * for all streams of one.
 *
 * The id of an event is the time until which this replica has told everything, and the name of the replica. A change
 * that is told twice does no harm, as it is only read again. So a reader that comes from another replica, whose clock
 * differs and which may have heard of a change earlier, is told everything since OVERLAP_MS before. A replica that does
 * not know what was missed says `reset`, and the reader reads everything again.
 */
import { type Bus, changeHints, changesSubject, listen, newId } from '@gantry/events';
import type { Response } from 'express';
import type { Logger } from 'pino';
import { type Change, createChangeMemory } from './change-memory';

const COALESCE_MS = 250;
const HEARTBEAT_MS = 15_000;
/** Clocks of replicas may be a minute off that of NATS each before readiness says so. */
const OVERLAP_MS = 2 * 60_000;
/** A reader that comes without a position has read its pages just now. */
const JUST_NOW_MS = 10_000;
/** A reader this far behind is cut off: it comes again. */
const UNSENT_BYTES_MAX = 256 << 10;

export type ChangeHub = Awaited<ReturnType<typeof openChangeHub>>;

interface Audience {
  readers: Set<Response>;
  /** Changes noted before this time have been sent. */
  toldUntil: number;
  flushing?: NodeJS.Timeout | undefined;
}

export async function openChangeHub({
  bus,
  log,
  now: readClock = Date.now,
}: {
  bus: Bus;
  log: Logger;
  now?: () => number;
}) {
  let latest = 0;
  /**
   * Stands still while a clock that was set back catches up: what is noted then is no older than what has been sent.
   */
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
      if (lost) forget();
      for (const [workspaceId, noun, id] of changes) {
        memory.note(workspaceId, { noun, id }, now());
        flushSoon(workspaceId);
      }
    },
    { log },
  );
  await bus.nc.flush();
  // Only now has the server the subscription.
  memory.forget(now());
  const heartbeat = setInterval(() => {
    memory.prune(now());
    for (const { readers, flushing, toldUntil } of audiences.values()) {
      writeToReaders(readers, formatPosition(flushing ? toldUntil : now()));
    }
  }, HEARTBEAT_MS);
  void (async () => {
    for await (const { type } of bus.nc.status()) if (type === 'reconnect') forget();
  })();

  const formatEventId = (toldUntil: number) => `id: ${toldUntil}-${replica}\n`;
  /** A comment for readers of the text, and an id without an event for EventSource. */
  const formatPosition = (toldUntil: number) => `: ${toldUntil}-${replica}\n${formatEventId(toldUntil)}\n`;

  /** @param changes null: they are not known */
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

  function forget() {
    memory.forget(now());
    for (const workspaceId of audiences.keys()) flushSoon(workspaceId);
  }

  function flushSoon(workspaceId: string) {
    const audience = audiences.get(workspaceId);
    if (!audience) return;
    audience.flushing ??= setTimeout(() => {
      audience.flushing = undefined;
      const since = audience.toldUntil;
      audience.toldUntil = now();
      writeToReaders(audience.readers, render(memory.since(workspaceId, since)));
    }, COALESCE_MS);
  }

  function writeToReaders(readers: Iterable<Response>, text: string) {
    const bytes = Buffer.from(text);
    for (const reader of readers) {
      if (!bytes.length || reader.closed || reader.writableEnded) continue;
      if (reader.writableLength > UNSENT_BYTES_MAX) reader.destroy();
      else reader.write(bytes);
    }
  }

  /** The time from which changes are sent. */
  function parsePosition(lastEventId: string | undefined): number {
    const [, at, by] = /^(\d{13})-([\w-]{1,16})$/.exec(lastEventId ?? '') ?? [];
    if (lastEventId === undefined) return now() - JUST_NOW_MS;
    return at === undefined ? 0 : Number(at) - (by === replica ? 0 : OVERLAP_MS);
  }

  return {
    /** Until the answer is closed. @param lastEventId absent: nothing was missed but what changed just now */
    watch(workspaceId: string, reader: Response, lastEventId: string | undefined): void {
      if (closed) return void reader.end();
      const audience: Audience = audiences.get(workspaceId) ?? { readers: new Set(), toldUntil: now() };
      audiences.set(workspaceId, audience);
      audience.readers.add(reader);
      reader.once('close', () => {
        audience.readers.delete(reader);
        if (audience.readers.size) return;
        clearTimeout(audience.flushing);
        audiences.delete(workspaceId);
      });
      writeToReaders(
        [reader],
        `${formatPosition(now())}${render(memory.since(workspaceId, parsePosition(lastEventId)))}`,
      );
    },
    /** Ends all streams: their readers come again, to another replica. */
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
