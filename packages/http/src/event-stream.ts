import type { Response } from 'express';

const SERVER_SENT_EVENTS = 'text/event-stream; charset=utf-8';

/** Starts an event stream, of server-sent events by default. */
export function startEventStream(res: Response, contentType = SERVER_SENT_EVENTS): void {
  res.writeHead(200, {
    'Content-Type': contentType,
    'Cache-Control': 'no-store',
    // nginx would otherwise collect a stream into blocks.
    'X-Accel-Buffering': 'no',
  });
}
