import type { IncomingMessage, ServerResponse } from 'node:http';

/** Fakes the stream of the workspace's changes. */
export interface FakeChanges {
  watchers: Set<ServerResponse>;
  /** The emitted messages; a client that resumes gets those after its position. */
  sent: string[];
  /** `Last-Event-ID` of each connection; undefined without one. */
  lastEventIds: (string | undefined)[];
  /** The status of the response instead of a stream. */
  refusal: number | null;
  emit: (event: 'change' | 'reset', data: object) => void;
  drop: () => void;
}

export function createChangeStream(): FakeChanges {
  const watchers = new Set<ServerResponse>();
  const sent: string[] = [];
  return {
    watchers,
    sent,
    lastEventIds: [],
    refusal: null,
    emit(event, data) {
      const text = `id: ${sent.length + 1}-fake\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
      sent.push(text);
      for (const watcher of watchers) watcher.write(text);
    },
    drop() {
      for (const watcher of watchers) watcher.destroy();
    },
  };
}

export function streamChanges(changes: FakeChanges, req: IncomingMessage, res: ServerResponse): void {
  const position = req.headers['last-event-id']?.toString();
  changes.lastEventIds.push(position);
  if (changes.refusal) {
    res.writeHead(changes.refusal).end();
    return;
  }
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const { sent } = changes;
  if (position) res.write(sent.slice(Number.parseInt(position, 10)).join(''));
  res.write(`: ${sent.length}-fake\nid: ${sent.length}-fake\n\n`);
  changes.watchers.add(res);
  res.once('close', () => changes.watchers.delete(res));
}
