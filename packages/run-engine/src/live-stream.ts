/**
 * Streams one run's events over HTTP from run-hub.ts; a client can disconnect and resume anywhere. A reader that does
 * not keep up is disconnected; it resumes with Last-Event-ID.
 */
import { AppError, drained, startEventStream } from '@gantry/http';
import type { Request, Response } from 'express';
import type { Reader, Told } from './reader';
import { isTerminal, type Run } from './run';
import { agedClosing, toWaitingFor } from './run-events';
import type { RunHubs } from './run-hub';

export type Include = 'all' | 'no-logs' | 'logs';

/** @param data the event's own fields. @returns the streamed fields; null: the event is omitted */
export type TellEvent = (data: Record<string, unknown>) => Record<string, unknown> | null;

/** A surface's format of events. Readers of a run with the same `name` share the bytes. */
export interface Wording {
  name: string;
  of: Partial<Record<Told['type'], TellEvent>>;
  /** Events of types that `of` does not name. */
  others: 'told' | 'left out';
}

/** A reader this far behind is disconnected. */
const UNSENT_BYTES_MAX = 4 << 20;

export async function streamRun(
  hubs: RunHubs,
  req: Request,
  res: Response,
  run: Run,
  include: Include,
  wording?: Wording,
): Promise<void> {
  const format = formatOf(req);
  const closing = isTerminal(run.status) ? agedClosing(run) : null;
  const last = lastSeen(req);
  // EventSource reconnects until it gets a 204.
  const isOver = closing && last > 0 && (last === closing.at(-1)?.seq || (await hubs.isOver(run.id, last)));
  if (isOver) return void res.status(204).end();
  startEventStream(res, format.contentType);
  if (req.method === 'HEAD') return void res.end();
  res.flushHeaders();
  const reader = toReader(res, format, include, last, wording);
  const gone = new Promise<void>((resolve) => {
    res.once('close', () => {
      reader.open = false;
      hubs.leave(run.id, reader);
      resolve();
    });
  });
  if (req.get('Last-Event-ID') === undefined && !isTold(run) && include !== 'logs')
    res.write(reader.render([nowOf(run)]));
  await hubs.serve(run.id, reader, closing);
  if (!res.closed) await gone;
}

/** @throws AppError 406 */
function formatOf(req: Request): typeof sse {
  const type = req.accepts(['text/event-stream', 'application/x-ndjson']);
  if (type) return type === 'application/x-ndjson' ? ndjson : sse;
  throw new AppError(
    'not_acceptable',
    'not_acceptable',
    'Accept: this is a stream of events; send text/event-stream or application/x-ndjson',
  );
}

/** Parses Last-Event-ID; 0, the beginning, if it is invalid. */
function lastSeen(req: Request): number {
  const given = req.get('Last-Event-ID') ?? '';
  return /^\d{1,15}$/.test(given) ? Number(given) : 0;
}

function toReader(res: Response, format: typeof sse, include: Include, last: number, wording?: Wording): Reader {
  const wanted = ({ type }: Told) =>
    type === 'done' || (type !== 'context' && (include === 'all' || (include === 'logs') === (type === 'log')));
  return {
    last,
    style: `${format.contentType} ${include} ${wording?.name}`,
    open: !res.closed,
    render: (events) => {
      const told = events.filter(wanted);
      return (wording ? told.flatMap((event) => worded(event, wording)) : told).map(format.event).join('');
    },
    comment: format.comment,
    write(bytes) {
      // open-streams.ts ends it if the caller loses access.
      if (!bytes.length || res.closed || res.writableEnded) return;
      if (res.writableLength > UNSENT_BYTES_MAX) res.destroy();
      else res.write(bytes);
    },
    drained: async () => {
      if (res.writableNeedDrain && !res.closed) await drained(res);
    },
    end: () => void res.end(),
  };
}

function worded(event: Told, { of, others }: Wording): Told[] {
  const tell = of[event.type];
  if (!tell) return others === 'told' ? [event] : [];
  const { type, at, ...data } = JSON.parse(event.body);
  const told = tell(data);
  return told ? [{ ...event, body: JSON.stringify({ type, at, ...told }) }] : [];
}

/** Returns whether the run's events include its status, or will soon. */
const isTold = ({ status, startedAt }: Run): boolean =>
  startedAt !== null || status === 'running' || isTerminal(status);

/** Builds the status event of an unstarted run; a suspended one is shown as queued. */
function nowOf({ status, suspension, wakeAt, createdAt }: Run): Told {
  const shown = status === 'suspended' ? 'queued' : status;
  const waiting = suspension && { waiting_for: toWaitingFor(suspension, wakeAt) };
  return {
    seq: 0,
    type: 'status',
    body: JSON.stringify({ type: 'status', at: createdAt.toISOString(), status: shown, ...waiting }),
  };
}

const sse = {
  contentType: 'text/event-stream; charset=utf-8',
  event: ({ seq, type, body }: Told) => `id: ${seq}\nevent: ${type}\ndata: ${body}\n\n`,
  comment: (last: number) => `: ${last}\n\n`,
};

const ndjson: typeof sse = {
  contentType: 'application/x-ndjson; charset=utf-8',
  event: ({ seq, body }) => `{"id":${seq},${body.slice(1)}\n`,
  comment: () => '\n',
};
