/**
 * One run's events for all its readers on this replica: one subscription, one decoding, one reading of the table.
 *
 * Live events come straight from the executor, before they are written; what continues where the readers are goes out at
 * once. A number out of line means that something was missed, and the table is read. The closing events, and what the
 * service itself adds, are only ever read from the table, so that whoever sees `done` finds the run ended.
 *
 * The hub keeps the latest events. A reader that comes with a number among those goes on from there; one that is further
 * behind reads the table by itself until it gets there. A hub begins with its first reader and ends with its last.
 */
import { type Bus, decodeRunEvents, listenRaw, type RunSource, runSubjects } from '@gantry/events';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { follows, GAP_MS, readEvents, type StoredEvent, toNewEvents } from './run-events';
import type { RunTokens } from './run-tokens';

const COALESCE_MS = 25;
const HEARTBEAT_MS = 15_000;
/** How often the table is asked while events are missing. */
const CATCH_UP_MS = 200;
const PAGE = 1_000;
const BACKLOG_CHARS_MAX = 512 * 1024;

/** An event as text, made once for all readers. */
export interface Told {
  seq: number;
  type: StoredEvent['type'];
  /** A JSON object. */
  body: string;
}

export interface Reader {
  /** Number of the last event that it has. */
  last: number;
  /** Readers with the same style get the same bytes. */
  style: string;
  open: boolean;
  render(events: Told[]): string;
  comment(last: number): string;
  write(bytes: Buffer): void;
  /** Resolves when it can take more, or is gone. */
  drained(): Promise<void>;
  end(): void;
}

export interface RunHubs {
  /** Resolves when the reader has been told everything, or is gone. `ended`: nothing will be added to the run any more. */
  serve(runId: string, reader: Reader, ended: boolean): Promise<void>;
  leave(runId: string, reader: Reader): void;
  /** The run has changed: there may be something in the table. */
  changed(runId: string): void;
  close(): void;
}

interface HubDeps {
  bus: Bus;
  pool: Pool;
  source: RunSource;
  tokens: RunTokens;
  log: Logger;
}

export function createRunHubs(deps: HubDeps): RunHubs {
  const hubs = new Map<string, Hub>();

  function open(runId: string, from: number): Hub {
    const hub = openHub(deps, runId, from, () => {
      if (hubs.get(runId) === hub) hubs.delete(runId);
    });
    hubs.set(runId, hub);
    return hub;
  }

  return {
    async serve(runId, reader, ended) {
      if (ended) return readEnded(deps, runId, reader);
      const hub = hubs.get(runId) ?? open(runId, reader.last);
      await hub.join(reader);
    },
    leave: (runId, reader) => hubs.get(runId)?.leave(reader),
    changed: (runId) => hubs.get(runId)?.look(),
    close: () => {
      for (const hub of hubs.values()) hub.close();
    },
  };
}

interface Hub {
  join(reader: Reader): Promise<void>;
  leave(reader: Reader): void;
  look(): void;
  close(): void;
}

function openHub({ bus, pool, source, tokens, log }: HubDeps, runId: string, from: number, onClosed: () => void): Hub {
  const readers = new Set<Reader>();
  const joining = new Set<Reader>();
  const ahead = new Map<number, StoredEvent>();
  const gap = { since: 0 };
  // What was published before we listened may be written after we first read.
  const rereads = [CATCH_UP_MS, 5 * CATCH_UP_MS];
  /** Everything up to here has been told. */
  let last = 0;
  let backlog: Told[] = [];
  let backlogChars = 0;
  /** The backlog is whole from here to `last`. */
  let backlogFrom = Number.POSITIVE_INFINITY;
  let unsent: Told[] = [];
  let flushing: NodeJS.Timeout | undefined;
  let looked = false;
  let wake: () => void = () => {};
  let closed = false;

  const live = listenRaw(
    bus,
    runSubjects.events(source, '*', runId),
    (message) => {
      const batch = decodeRunEvents(message);
      // Ingest says so in the log.
      if (!tokens.accepts(batch)) return;
      for (const event of toNewEvents(batch)) if (!event.closes && event.seq > last) ahead.set(event.seq, event);
      tellAhead();
      if (ahead.size || batch.events.at(-1)?.type === 'finished') look();
    },
    { log },
  );
  const heartbeat = setInterval(() => {
    const comments = new Map<string, Buffer>();
    for (const reader of readers) reader.write(shared(comments, reader, () => reader.comment(last)));
  }, HEARTBEAT_MS);

  const begun = begin();
  void begun
    .then(follow)
    .catch((err) => {
      // Broken off without `done`: the readers resume.
      if (!closed) log.warn({ err, runId }, 'live stream broken off');
    })
    .finally(close);

  /** A number that a reader made up must not become everybody's place. */
  async function begin() {
    if (from > 0) {
      const { rows } = await pool.query(
        'SELECT max(seq)::float8 AS seq FROM run_events WHERE run_id = $1 AND seq <= $2',
        [runId, Math.min(from, Number.MAX_SAFE_INTEGER)],
      );
      last = rows[0].seq ?? 0;
    }
    backlogFrom = last;
    for (const seq of ahead.keys()) if (seq <= last) ahead.delete(seq);
  }

  async function follow() {
    while (!closed) {
      looked = false;
      const missing = await replay();
      if (closed) return;
      await pause(missing || ahead.size ? CATCH_UP_MS : (rereads.shift() ?? HEARTBEAT_MS));
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (looked) return resolve();
      const timeout = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timeout);
        resolve();
      };
    });
  }

  function look() {
    looked = true;
    wake();
  }

  /** @returns true where an event is missing that may still be written */
  async function replay(): Promise<boolean> {
    for (;;) {
      const page = await readOn(pool, runId, last, gap);
      if (closed) return false;
      for (const event of page.events) if (event.seq > last) tell(event);
      for (const seq of ahead.keys()) if (seq <= last) ahead.delete(seq);
      tellAhead();
      if (closed || page.missing || !page.more) return page.missing;
    }
  }

  /** Live events that continue exactly where the readers are. */
  function tellAhead() {
    if (backlogFrom > last) return;
    for (let next = ahead.get(last + 1); next; next = ahead.get(last + 1)) {
      ahead.delete(next.seq);
      tell(next);
    }
  }

  function tell(event: StoredEvent) {
    if (closed) return;
    const told = toTold(event);
    last = told.seq;
    backlog.push(told);
    unsent.push(told);
    backlogChars += told.body.length;
    if (backlogChars > BACKLOG_CHARS_MAX) trim();
    if (told.type === 'done') close();
    else flushing ??= setTimeout(flush, COALESCE_MS);
  }

  /** To half, so that it is not done for each event. */
  function trim() {
    let dropped = 0;
    for (const told of backlog) {
      if (backlogChars <= BACKLOG_CHARS_MAX / 2) break;
      backlogChars -= told.body.length;
      backlogFrom = told.seq;
      dropped++;
    }
    backlog = backlog.slice(dropped);
  }

  function flush() {
    clearTimeout(flushing);
    flushing = undefined;
    const events = unsent;
    unsent = [];
    const [first, end] = [events[0]?.seq, events.at(-1)?.seq];
    if (first === undefined || end === undefined) return;
    const chunks = new Map<string, Buffer>();
    for (const reader of readers) {
      if (reader.last >= end) continue;
      if (reader.last < first) reader.write(shared(chunks, reader, () => reader.render(events)));
      else reader.write(Buffer.from(reader.render(events.filter(({ seq }) => seq > reader.last))));
      reader.last = end;
    }
  }

  function close() {
    if (closed) return;
    closed = true;
    flush();
    live.unsubscribe();
    clearInterval(heartbeat);
    onClosed();
    wake();
    for (const reader of readers) reader.end();
  }

  return {
    async join(reader) {
      joining.add(reader);
      try {
        await begun;
        const covered = () => reader.last >= backlogFrom;
        if (!(await readAlone(pool, runId, reader, covered, false))) return reader.end();
        if (!reader.open) return;
        flush();
        const rest = backlog.filter(({ seq }) => seq > reader.last);
        reader.last = Math.max(reader.last, last);
        if (rest.length) reader.write(Buffer.from(reader.render(rest)));
        if (closed) return reader.end();
        readers.add(reader);
      } catch (err) {
        log.warn({ err, runId }, 'live stream broken off');
        reader.end();
      } finally {
        joining.delete(reader);
        if (!readers.size && !joining.size) close();
      }
    },
    leave(reader) {
      readers.delete(reader);
      if (!readers.size && !joining.size) close();
    },
    look,
    close,
  };
}

async function readEnded({ pool, log }: HubDeps, runId: string, reader: Reader): Promise<void> {
  await readAlone(pool, runId, reader, () => false, true).catch((err) =>
    log.warn({ err, runId }, 'live stream broken off'),
  );
  reader.end();
}

/**
 * Tells one reader what the table has, until it has caught up.
 * @returns false once there is nothing more to come: `done` was told, or the run had ended and everything was read
 */
async function readAlone(
  pool: Pool,
  runId: string,
  reader: Reader,
  covered: () => boolean,
  ended: boolean,
): Promise<boolean> {
  const gap = { since: 0 };
  while (reader.open && !covered()) {
    const { events, missing, more } = await readOn(pool, runId, reader.last, gap);
    if (events.length) {
      reader.write(Buffer.from(reader.render(events.map(toTold))));
      reader.last = events.at(-1)?.seq ?? reader.last;
      if (events.at(-1)?.type === 'done') return false;
      await reader.drained();
    }
    if (more) continue;
    if (ended && !missing) return false;
    if (!covered()) await new Promise((resolve) => setTimeout(resolve, CATCH_UP_MS));
  }
  return true;
}

/**
 * What the table has after `last`, up to the first event that is missing; one that stays missing for GAP_MS is taken for
 * lost. `gap` remembers since when.
 */
async function readOn(
  pool: Pool,
  runId: string,
  last: number,
  gap: { since: number },
): Promise<{ events: StoredEvent[]; missing: boolean; more: boolean }> {
  const page = await readEvents(pool, runId, last, PAGE);
  const events: StoredEvent[] = [];
  for (const event of page) {
    if (follows(events.at(-1)?.seq ?? last, event.seq)) gap.since = 0;
    else {
      gap.since ||= Date.now();
      if (Date.now() - gap.since < GAP_MS) return { events, missing: true, more: false };
    }
    events.push(event);
    if (event.type === 'done') return { events, missing: false, more: false };
  }
  return { events, missing: false, more: page.length === PAGE };
}

const toTold = ({ seq, at, type, data }: StoredEvent): Told => ({
  seq,
  type,
  body: JSON.stringify({ type, at: at.toISOString(), ...(data as object) }),
});

function shared(chunks: Map<string, Buffer>, { style }: Reader, make: () => string): Buffer {
  let chunk = chunks.get(style);
  if (!chunk) {
    chunk = Buffer.from(make());
    chunks.set(style, chunk);
  }
  return chunk;
}
