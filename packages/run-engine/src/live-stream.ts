/**
 * One run's events as a stream that can be broken off and resumed anywhere: the HTTP side of run-hub.ts. A reader that does
 * not keep up is cut off; it resumes with Last-Event-ID.
 */
import { drained } from '@gantry/http';
import type { Request, Response } from 'express';
import type { Reader, Told } from './reader';
import { isTerminal, type Run } from './run';
import { toWaitingFor } from './run-events';
import type { RunHubs } from './run-hub';

export type Include = 'all' | 'no-logs' | 'logs';

/**
 * Alike for all readers of a run who are told in part: they share what is sent.
 * @param data the event's own fields. @returns those that are told; null: nothing is told of it
 */
export type ShowEvent = (type: Told['type'], data: Record<string, unknown>) => Record<string, unknown> | null;

/** A reader this far behind is cut off. */
const UNSENT_BYTES_MAX = 4 << 20;

export async function streamRun(
  hubs: RunHubs,
  req: Request,
  res: Response,
  run: Run,
  include: Include,
  show?: ShowEvent,
): Promise<void> {
  const format = req.accepts(['text/event-stream', 'application/x-ndjson']) === 'application/x-ndjson' ? ndjson : sse;
  res.writeHead(200, {
    'Content-Type': format.contentType,
    'Cache-Control': 'no-store',
    // nginx would otherwise collect a stream into blocks.
    'X-Accel-Buffering': 'no',
  });
  res.flushHeaders();
  const reader = toReader(res, format, include, lastSeen(req), show);
  const gone = new Promise<void>((resolve) => {
    res.once('close', () => {
      reader.open = false;
      hubs.leave(run.id, reader);
      resolve();
    });
  });
  const ended = isTerminal(run.status);
  if (reader.last === 0 && !ended && include !== 'logs') res.write(reader.render([nowOf(run)]));
  await hubs.serve(run.id, reader, ended);
  if (!res.closed) await gone;
}

/** From the beginning for what is no number of an event. */
function lastSeen(req: Request): number {
  const given = req.get('Last-Event-ID') ?? '';
  return /^\d{1,15}$/.test(given) ? Number(given) : 0;
}

function toReader(res: Response, format: typeof sse, include: Include, last: number, show?: ShowEvent): Reader {
  const wanted = ({ type }: Told) =>
    type === 'done' || (type !== 'context' && (include === 'all' || (include === 'logs') === (type === 'log')));
  return {
    last,
    style: `${format.contentType} ${include}${show ? ' shown in part' : ''}`,
    open: !res.closed,
    render: (events) => {
      const told = events.filter(wanted);
      return (show ? told.flatMap((event) => inPart(event, show)) : told).map(format.event).join('');
    },
    comment: format.comment,
    write(bytes) {
      // Ended from outside where its caller may no longer read it.
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

function inPart({ body, ...event }: Told, show: ShowEvent): Told[] {
  const { type, at, ...data } = JSON.parse(body);
  const shown = show(event.type, data);
  return shown ? [{ ...event, body: JSON.stringify({ type, at, ...shown }) }] : [];
}

/** Where the run is, before its history; a suspended run is shown as queued. */
function nowOf({ status, suspension, wakeAt, createdAt }: Run): Told {
  const shown = status === 'suspended' ? 'queued' : status;
  const waiting = suspension && { waiting_for: toWaitingFor(suspension, wakeAt) };
  return {
    seq: 0,
    type: 'status',
    body: JSON.stringify({ type: 'status', at: createdAt.toISOString(), status: shown, ...waiting }),
  };
}

/** Events about something that has an id of its own, which would take the place of the number in a line. */
const OWN_ID = new Set<Told['type']>(['artifact', 'approval']);

const sse = {
  contentType: 'text/event-stream; charset=utf-8',
  event: ({ seq, type, body }: Told) => `id: ${seq}\nevent: ${type}\ndata: ${body}\n\n`,
  comment: (last: number) => `: ${last}\n\n`,
};

const ndjson: typeof sse = {
  contentType: 'application/x-ndjson; charset=utf-8',
  event: ({ seq, type, body }) =>
    `{"id":${seq},${OWN_ID.has(type) ? body.slice(1).replace('"id":', `"${type}_id":`) : body.slice(1)}\n`,
  comment: () => '\n',
};
