import type { Response } from 'express';

/** Begins a stream of server-sent events. */
export function beginEvents(res: Response): void {
  res.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    // nginx would otherwise collect a stream into blocks.
    'X-Accel-Buffering': 'no',
  });
}
