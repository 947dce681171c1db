/**
 * One run's events as a stream that can be broken off and resumed anywhere.
 *
 * Attach to the live events and buffer them, replay the table from where the reader stopped, then go on live. Live events
 * come straight from the executor, before they are written; a number out of line means that something was missed, and the
 * table is read again. The closing events are only ever read from the table, so that whoever sees `done` finds the run
 * ended. A reader that does not keep up is cut off; it resumes with Last-Event-ID.
 */
import { type Bus, listen, type RunSource, runEventBatch, runSettled, runSubjects } from '@gantry/events';
import type { Request, Response } from 'express';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { isTerminal, type Run } from './run';
import { follows, GAP_MS, readEvents, type StoredEvent, toNewEvents } from './run-events';

export type Include = 'all' | 'no-logs' | 'logs';

const COALESCE_MS = 25;
const HEARTBEAT_MS = 15_000;
/** How often the table is asked while events are missing. */
const CATCH_UP_MS = 200;
const PAGE = 1_000;
/** A reader this far behind is cut off. */
const UNSENT_BYTES_MAX = 4 << 20;

export async function streamRun(
  deps: { bus: Bus; pool: Pool; source: RunSource; log: Logger },
  req: Request,
  res: Response,
  run: Run,
  include: Include,
): Promise<void> {
  const { bus, pool, source, log } = deps;
  const frame = req.accepts(['text/event-stream', 'application/x-ndjson']) === 'application/x-ndjson' ? ndjson : sse;
  res.writeHead(200, {
    'Content-Type': frame.contentType,
    'Cache-Control': 'no-store',
    // nginx would otherwise collect a stream into blocks.
    'X-Accel-Buffering': 'no',
  });
  res.flushHeaders();

  const ahead = new Map<number, StoredEvent>();
  let last = Number.parseInt(req.get('Last-Event-ID') ?? '0', 10) || 0;
  // What was published before we listened may be written after we first read.
  const rereads = [CATCH_UP_MS, 5 * CATCH_UP_MS];
  let gapSince = 0;
  let unsent = '';
  let timer: NodeJS.Timeout | undefined;
  let wake: () => void = () => {};
  let open = true;

  const subscriptions = [
    listen(
      bus,
      runSubjects.events(source, run.id),
      runEventBatch,
      (batch) => {
        for (const event of toNewEvents(batch)) if (!event.closes && event.seq > last) ahead.set(event.seq, event);
        deliverAhead();
        if (ahead.size || batch.events.at(-1)?.type === 'finished') wake();
      },
      { log },
    ),
    listen(bus, runSubjects.settled(source, run.id), runSettled, () => wake(), { log }),
  ];
  const heartbeat = setInterval(() => send(frame.comment(last)), HEARTBEAT_MS);
  res.once('close', () => {
    open = false;
    wake();
  });

  function send(text: string) {
    unsent += text;
    timer ??= setTimeout(flush, COALESCE_MS);
  }

  function flush() {
    clearTimeout(timer);
    timer = undefined;
    if (!open || !unsent) return;
    if (res.writableLength > UNSENT_BYTES_MAX) return void res.destroy();
    res.write(unsent);
    unsent = '';
  }

  function emit(event: StoredEvent) {
    last = event.seq;
    const isLog = event.type === 'log';
    if (event.type === 'done' || include === 'all' || (include === 'logs') === isLog) send(frame.event(event));
  }

  /** Live events that continue exactly where the reader is. */
  function deliverAhead() {
    for (let next = ahead.get(last + 1); next; next = ahead.get(last + 1)) {
      ahead.delete(next.seq);
      emit(next);
    }
  }

  /** @returns true once `done` was sent; false also where an event is missing that may still be written. */
  async function replay(): Promise<boolean> {
    for (;;) {
      const events = await readEvents(pool, run.id, last, PAGE);
      for (const event of events) {
        if (event.seq <= last) continue;
        if (follows(last, event.seq)) gapSince = 0;
        else {
          gapSince ||= Date.now();
          if (Date.now() - gapSince < GAP_MS) return false;
        }
        emit(event);
        if (event.type === 'done') return true;
      }
      for (const seq of ahead.keys()) if (seq <= last) ahead.delete(seq);
      deliverAhead();
      if (events.length < PAGE) return false;
    }
  }

  try {
    if (last === 0 && !isTerminal(run.status) && include !== 'logs')
      send(frame.event({ seq: 0, at: run.createdAt, type: 'status', data: { status: run.status } }));
    while (open && !(await replay())) {
      flush();
      await new Promise<void>((resolve) => {
        const timeout = setTimeout(resolve, ahead.size || gapSince ? CATCH_UP_MS : (rereads.shift() ?? HEARTBEAT_MS));
        wake = () => {
          clearTimeout(timeout);
          resolve();
        };
      });
    }
    flush();
  } catch (err) {
    // Broken off without `done`: the reader resumes.
    log.warn({ err, runId: run.id }, 'live stream broken off');
  } finally {
    clearInterval(heartbeat);
    clearTimeout(timer);
    for (const subscription of subscriptions) subscription.unsubscribe();
    res.end();
  }
}

const body = ({ at, type, data }: StoredEvent) => ({ type, at: at.toISOString(), ...(data as object) });

const sse = {
  contentType: 'text/event-stream; charset=utf-8',
  event: (event: StoredEvent) => `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(body(event))}\n\n`,
  comment: (last: number) => `: ${last}\n\n`,
};

const ndjson = {
  contentType: 'application/x-ndjson; charset=utf-8',
  event: (event: StoredEvent) => `${JSON.stringify({ id: event.seq, ...body(event) })}\n`,
  comment: () => '\n',
};
