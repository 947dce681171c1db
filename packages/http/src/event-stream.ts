import type { Response } from 'express';

const SERVER_SENT_EVENTS = 'text/event-stream; charset=utf-8';

/** Begins a stream of events, server-sent ones unless it has another type. */
export function startEventStream(res: Response, contentType = SERVER_SENT_EVENTS): void {
  res.writeHead(200, {
    'Content-Type': contentType,
    'Cache-Control': 'no-store',
    // nginx would otherwise collect a stream into blocks.
    'X-Accel-Buffering': 'no',
  });
}
