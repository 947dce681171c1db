/**
 * Streams one run's events over HTTP from run-hub.ts; a client can disconnect and resume anywhere. A reader that does
 * not keep up is disconnected; it resumes with Last-Event-ID.
 */
import { AppError } from '@gantry/errors';
import type { WorkspaceClosures } from '@gantry/events';
import { startEventStream, waitForDrain } from '@gantry/http';
import type { Request, Response } from 'express';
import { isTerminal, type Run } from '../run';
import { buildExpiredClosingEvents, toWaitingFor } from '../run-events';
import type { Reader, StreamEvent } from './reader';
import type { RunHubs } from './run-hub';
import { createStreamCloser } from './stream-closer';

export type StreamFilter = 'all' | 'no-logs' | 'logs';

/** @param data the event's own fields. @returns the streamed fields; null: the event is omitted */
export type FormatEvent = (data: Record<string, unknown>) => Record<string, unknown> | null;

/** A surface's format of events. Readers of a run with the same `name` share the bytes. */
export interface StreamFormat {
  name: string;
  of: Partial<Record<StreamEvent['type'], FormatEvent>>;
  /** Events of types that `of` does not name. */
  others: 'told' | 'left out';
}

/** A reader this far behind is disconnected. */
const BUFFERED_BYTES_MAX = 4 << 20;

/**
 * Streams server-sent events or NDJSON, by Accept. Resumes after Last-Event-ID, ends after `done`, or when the
 * workspace is closed.
 * @param streamFormat the surface's format of events
 */
export type RunStream = (
  req: Request,
  res: Response,
  run: Run,
  include: StreamFilter,
  streamFormat?: StreamFormat,
) => Promise<void>;

export function createRunStream(hubs: RunHubs, closures: WorkspaceClosures): RunStream {
  const closedStreams = createStreamCloser(closures);
  return (req, res, run, include, streamFormat) => {
    closedStreams.watch(run.workspaceId, res);
    return streamRun(hubs, req, res, run, include, streamFormat);
  };
}

async function streamRun(
  hubs: RunHubs,
  req: Request,
  res: Response,
  run: Run,
  include: StreamFilter,
  streamFormat?: StreamFormat,
): Promise<void> {
  const format = negotiateFormat(req);
  const closingEvents = isTerminal(run.status) ? buildExpiredClosingEvents(run) : null;
  const last = parseLastEventId(req);
  // EventSource reconnects until it gets a 204.
  const isOver = closingEvents && last > 0 && (last === closingEvents.at(-1)?.seq || (await hubs.isOver(run.id, last)));
  if (isOver) return void res.status(204).end();
  startEventStream(res, format.contentType);
  if (req.method === 'HEAD') return void res.end();
  res.flushHeaders();
  const reader = toReader(res, format, include, last, streamFormat);
  const closed = new Promise<void>((resolve) => {
    res.once('close', () => {
      reader.open = false;
      hubs.leave(run.id, reader);
      resolve();
    });
  });
  if (req.get('Last-Event-ID') === undefined && !hasStatusEvent(run) && include !== 'logs')
    res.write(reader.render([buildStatusEvent(run)]));
  await hubs.serve(run.id, reader, closingEvents);
  if (!res.closed) await closed;
}

/** @throws AppError 406 */
function negotiateFormat(req: Request): typeof sse {
  const type = req.accepts(['text/event-stream', 'application/x-ndjson']);
  if (type) return type === 'application/x-ndjson' ? ndjson : sse;
  throw new AppError(
    'not_acceptable',
    'not_acceptable',
    'Accept: this endpoint streams events; send text/event-stream or application/x-ndjson',
  );
}

/** Parses Last-Event-ID; 0, the beginning, if it is invalid. */
function parseLastEventId(req: Request): number {
  const lastEventId = req.get('Last-Event-ID') ?? '';
  return /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : 0;
}

function toReader(
  res: Response,
  format: typeof sse,
  include: StreamFilter,
  last: number,
  streamFormat?: StreamFormat,
): Reader {
  const isIncluded = ({ type }: StreamEvent) =>
    type === 'done' || (type !== 'context' && (include === 'all' || (include === 'logs') === (type === 'log')));
  return {
    last,
    style: `${format.contentType} ${include} ${streamFormat?.name}`,
    open: !res.closed,
    render: (events) => {
      const told = events.filter(isIncluded);
      return (streamFormat ? told.flatMap((event) => formatEvent(event, streamFormat)) : told)
        .map(format.event)
        .join('');
    },
    comment: format.comment,
    write(bytes) {
      // open-streams.ts ends it if the caller loses access.
      if (!bytes.length || res.closed || res.writableEnded) return;
      if (res.writableLength > BUFFERED_BYTES_MAX) res.destroy();
      else res.write(bytes);
    },
    waitForDrain: async () => {
      if (res.writableNeedDrain && !res.closed) await waitForDrain(res);
    },
    end: () => void res.end(),
  };
}

function formatEvent(event: StreamEvent, { of, others }: StreamFormat): StreamEvent[] {
  const formatFields = of[event.type];
  if (!formatFields) return others === 'told' ? [event] : [];
  const { type, at, ...data } = JSON.parse(event.body);
  const fields = formatFields(data);
  return fields ? [{ ...event, body: JSON.stringify({ type, at, ...fields }) }] : [];
}

/** Returns whether the run's events include its status, or will soon. */
const hasStatusEvent = ({ status, startedAt }: Run): boolean =>
  startedAt !== null || status === 'running' || isTerminal(status);

/** Builds the status event of an unstarted run; a suspended one is shown as queued. */
function buildStatusEvent({ status, suspension, wakeAt, createdAt }: Run): StreamEvent {
  const displayedStatus = status === 'suspended' ? 'queued' : status;
  const waiting = suspension && { waiting_for: toWaitingFor(suspension, wakeAt) };
  return {
    seq: 0,
    type: 'status',
    body: JSON.stringify({ type: 'status', at: createdAt.toISOString(), status: displayedStatus, ...waiting }),
  };
}

const sse = {
  contentType: 'text/event-stream; charset=utf-8',
  event: ({ seq, type, body }: StreamEvent) => `id: ${seq}\nevent: ${type}\ndata: ${body}\n\n`,
  comment: (last: number) => `: ${last}\n\n`,
};

const ndjson: typeof sse = {
  contentType: 'application/x-ndjson; charset=utf-8',
  event: ({ seq, body }) => `{"id":${seq},${body.slice(1)}\n`,
  comment: () => '\n',
};
