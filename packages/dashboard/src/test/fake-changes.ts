import type { IncomingMessage, ServerResponse } from 'node:http';

/** The stream of the workspace's changes. */
export interface FakeChanges {
  watchers: Set<ServerResponse>;
  /** `Last-Event-ID` of each connection; undefined where there was none. */
  asked: (string | undefined)[];
  /** Answers instead of a stream. */
  refusal: number | null;
  tell: (event: 'change' | 'reset', data: object) => void;
  drop: () => void;
}

export function newChanges(): FakeChanges {
  const watchers = new Set<ServerResponse>();
  let count = 0;
  return {
    watchers,
    asked: [],
    refusal: null,
    tell(event, data) {
      count++;
      for (const watcher of watchers) {
        watcher.write(`id: ${count}-fake\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      }
    },
    drop() {
      for (const watcher of watchers) watcher.destroy();
    },
  };
}

export function followChanges(changes: FakeChanges, req: IncomingMessage, res: ServerResponse): void {
  changes.asked.push(req.headers['last-event-id']?.toString());
  if (changes.refusal) {
    res.writeHead(changes.refusal).end();
    return;
  }
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  res.write(': 0-fake\nid: 0-fake\n\n');
  changes.watchers.add(res);
  res.once('close', () => changes.watchers.delete(res));
}
