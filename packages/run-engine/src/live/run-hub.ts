/**
 * Shares one run's events among all its readers on this replica: one subscription, one decoding, one read of the table.
 *
 * Live events come straight from the executor, before they are stored; consecutive ones are sent at once. A gap in the
 * numbers means that an event was missed, and the table is read. The closing events, and the service's own, are only
 * read from the table, so that a client that receives `done` finds the run ended.
 *
 * The hub keeps the latest events. A reader that resumes within those continues from there; one that is further behind
 * reads the table until it has caught up. A hub opens with its first reader and closes with its last.
 */
import { type Bus, decodeRunEvents, listenRaw, type RunSource, runSubjects } from '@gantry/events';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { type NewEvent, type StoredEvent, toNewEvents } from '../run-events';
import type { RunTokens } from '../run-tokens';
import { findLastSeqUpTo, type Gap, readConsecutiveEvents } from './consecutive-events';
import { createEventSequence, type EventSequence } from './event-sequence';
import { type Backlog, createBacklog } from './hub-backlog';
import { createHubReaders } from './hub-readers';
import type { Reader, StreamEvent } from './reader';

const HEARTBEAT_MS = 15_000;
/** Interval of table reads while events are missing. */
const CATCH_UP_MS = 200;

export type RunHubs = ReturnType<typeof createRunHubs>;

interface HubDeps {
  bus: Bus;
  pool: Pool;
  source: RunSource;
  tokens: RunTokens;
  log: Logger;
}

export function createRunHubs(deps: HubDeps) {
  const hubs = new Map<string, Hub>();

  function openRunHub(runId: string, from: number): Hub {
    const hub = openHub(deps, runId, from, () => {
      if (hubs.get(runId) === hub) hubs.delete(runId);
    });
    hubs.set(runId, hub);
    return hub;
  }

  return {
    /**
     * Resolves when the reader has every event, or is closed. `closing`: closing events of an ended run, if its events
     * were deleted.
     */
    async serve(runId: string, reader: Reader, closing: StoredEvent[] | null): Promise<void> {
      if (closing) return serveEndedRun(deps, runId, reader, closing);
      const hub = hubs.get(runId) ?? openRunHub(runId, reader.last);
      await hub.join(reader);
    },
    leave: (runId: string, reader: Reader) => hubs.get(runId)?.leave(reader),
    /** Returns whether an ended run has no event after this number. */
    async isOver(runId: string, seq: number): Promise<boolean> {
      const { rows } = await deps.pool.query(
        "SELECT EXISTS (SELECT FROM run_events WHERE run_id = $1 AND type = 'done' AND seq <= $2) AS over",
        [runId, seq],
      );
      return rows[0].over;
    },
    /** Reads the table again after the run has changed. */
    onRunChanged: (runId: string) => hubs.get(runId)?.scheduleRead(),
    close: () => {
      for (const hub of hubs.values()) hub.close();
    },
  };
}

type Hub = ReturnType<typeof openHub>;

function openHub({ bus, pool, source, tokens, log }: HubDeps, runId: string, from: number, onClosed: () => void) {
  const readers = createHubReaders();
  const joining = new Set<Reader>();
  const gap: Gap = { since: 0 };
  // An event that was published before the subscription may be stored after the first read.
  const rereadDelays = [CATCH_UP_MS, 5 * CATCH_UP_MS];
  /** Live events that came before the start. */
  const earlyEvents: NewEvent[] = [];
  let started: { sequence: EventSequence; backlog: Backlog } | undefined;
  let isReadScheduled = false;
  let wake: () => void = () => {};
  let closed = false;

  const live = listenRaw(
    bus,
    runSubjects.events(source, '*', runId),
    (message) => {
      const batch = decodeRunEvents(message);
      // Ingest logs it.
      if (!tokens.isValid(batch)) return;
      if (started) started.sequence.addLive(toNewEvents(batch));
      else earlyEvents.push(...toNewEvents(batch));
      if (!started || started.sequence.isAhead || batch.events.at(-1)?.type === 'finished') scheduleRead();
    },
    { log },
  );
  const heartbeat = setInterval(() => readers.comment(started?.sequence.lastSeq ?? 0), HEARTBEAT_MS);

  const starting = start();
  void starting
    .then(followTable)
    .catch((err) => {
      // The streams end without `done`: clients resume.
      if (!closed) log.warn({ err, runId }, 'live stream interrupted');
    })
    .finally(close);

  async function start() {
    const last = await findLastSeqUpTo(pool, runId, from);
    started = { sequence: createEventSequence(last, emit), backlog: createBacklog(last) };
    started.sequence.addLive(earlyEvents.splice(0));
    return started;
  }

  async function followTable({ sequence }: { sequence: EventSequence }) {
    while (!closed) {
      isReadScheduled = false;
      const missing = await replay(sequence);
      if (closed) return;
      // Bounded: two pauses.
      await pause(missing || sequence.isAhead ? CATCH_UP_MS : (rereadDelays.shift() ?? HEARTBEAT_MS));
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (isReadScheduled) return resolve();
      const timeout = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timeout);
        resolve();
      };
    });
  }

  function scheduleRead() {
    isReadScheduled = true;
    wake();
  }

  /** @returns true if an event is missing that may still be stored */
  async function replay(sequence: EventSequence): Promise<boolean> {
    for (;;) {
      const page = await readConsecutiveEvents(pool, runId, sequence.lastSeq, gap);
      if (closed) return false;
      sequence.addStored(page.events);
      if (closed || page.missing || !page.more) return page.missing;
    }
  }

  function emit(event: StoredEvent) {
    if (closed) return;
    const streamEvent = toStreamEvent(event);
    started?.backlog.add(streamEvent);
    readers.push(streamEvent);
    if (streamEvent.type === 'done') close();
  }

  function close() {
    if (closed) return;
    closed = true;
    live.unsubscribe();
    clearInterval(heartbeat);
    onClosed();
    wake();
    readers.end();
  }

  function closeIfEmpty() {
    if (!readers.size && !joining.size) close();
  }

  return {
    async join(reader: Reader) {
      joining.add(reader);
      try {
        const { sequence, backlog } = await starting;
        const isCaughtUp = () => reader.last >= backlog.from;
        if (!(await serveFromTable(pool, runId, reader, isCaughtUp, null))) return reader.end();
        if (!reader.open) return;
        readers.flush();
        const rest = backlog.after(reader.last);
        reader.last = Math.max(reader.last, sequence.lastSeq);
        if (rest.length) reader.write(Buffer.from(reader.render(rest)));
        if (closed) return reader.end();
        readers.add(reader);
      } catch (err) {
        log.warn({ err, runId }, 'live stream interrupted');
        reader.end();
      } finally {
        joining.delete(reader);
        closeIfEmpty();
      }
    },
    leave(reader: Reader) {
      readers.remove(reader);
      closeIfEmpty();
    },
    scheduleRead,
    close,
  };
}

async function serveEndedRun(
  { pool, log }: HubDeps,
  runId: string,
  reader: Reader,
  closing: StoredEvent[],
): Promise<void> {
  await serveFromTable(pool, runId, reader, () => false, closing).catch((err) =>
    log.warn({ err, runId }, 'live stream interrupted'),
  );
  reader.end();
}

/**
 * Serves one reader from the table until it has caught up.
 * @returns false once there are no more events: `done` was sent, or the run had ended and all was read
 */
async function serveFromTable(
  pool: Pool,
  runId: string,
  reader: Reader,
  isCaughtUp: () => boolean,
  closing: StoredEvent[] | null,
): Promise<boolean> {
  const gap: Gap = { since: 0 };
  while (reader.open && !isCaughtUp()) {
    const { events, missing, more } = await readConsecutiveEvents(pool, runId, reader.last, gap);
    if (events.length) {
      reader.write(Buffer.from(reader.render(events.map(toStreamEvent))));
      reader.last = events.at(-1)?.seq ?? reader.last;
      if (events.at(-1)?.type === 'done') return false;
      await reader.waitForDrain();
    }
    if (more) continue;
    if (closing && !missing) {
      reader.write(Buffer.from(reader.render(closing.map(toStreamEvent))));
      return false;
    }
    if (!isCaughtUp()) await new Promise((resolve) => setTimeout(resolve, CATCH_UP_MS));
  }
  return true;
}

function toStreamEvent({ seq, at, type, data }: StoredEvent): StreamEvent {
  const { id, ...fields } = data as { id?: unknown };
  // In NDJSON, `id` is the number of the event.
  const fieldsWithId = id === undefined ? fields : { [`${type}_id`]: id, ...fields };
  return { seq, type, body: JSON.stringify({ type, at: at.toISOString(), ...fieldsWithId }) };
}
