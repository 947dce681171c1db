import type { IncomingMessage, ServerResponse } from 'node:http';

/** The events of a run, and the clients of its stream. */
export interface FakeStream {
  events: { id: number; event: string; data: object }[];
  watchers: Set<ServerResponse>;
}

export function emitEvent(stream: FakeStream, event: string, data: object): void {
  const id = 1_000_001 + stream.events.length;
  stream.events.push({ id, event, data });
  for (const watcher of stream.watchers) watcher.write(formatEventFrame({ id, event, data }));
}

export function streamEvents(stream: FakeStream, hasEnded: boolean, req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  res.flushHeaders();
  const after = Number(req.headers['last-event-id'] ?? 0);
  for (const event of stream.events) if (event.id > after) res.write(formatEventFrame(event));
  if (stream.events.at(-1)?.event === 'done') return void res.end();
  if (hasEnded) return void res.end(formatEventFrame({ id: Number.MAX_SAFE_INTEGER, event: 'done', data: {} }));
  stream.watchers.add(res);
  res.once('close', () => stream.watchers.delete(res));
}

const formatEventFrame = ({ id, event, data }: FakeStream['events'][number]) =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
