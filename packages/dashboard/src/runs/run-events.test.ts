import { createEventParser, readEventStream, type StreamEvent } from '@gantry/sdk';
import { applyEvents, EMPTY_LIVE_RUN } from './live-run';

const body = (...chunks: string[]) =>
  new Response(new Blob(chunks).stream(), { headers: { 'Content-Type': 'text/event-stream' } });

test('events are the same however the network splits them', () => {
  const text =
    ': 7\n\nid: 8\nevent: log\ndata: {"text":"ä"}\n\nid: 9\r\nevent: done\r\ndata: a\r\ndata: b\r\n\r\ndata: c\n\n: 9\n\n';
  for (let size = 1; size <= text.length; size++) {
    const parse = createEventParser();
    const events: StreamEvent[] = [];
    for (let at = 0; at < text.length; at += size) events.push(...parse(text.slice(at, at + size)));
    expect(events).toEqual([
      { id: '8', event: 'log', data: '{"text":"ä"}' },
      { id: '9', event: 'done', data: 'a\nb' },
      { id: '9', event: 'message', data: 'c' },
    ]);
  }
});

test('a broken connection is resumed after the last event, and only the last event ends the reading', async () => {
  const asked: (string | null)[] = [];
  const answers = [
    () => body('id: 1\nevent: log\ndata: {}\n\n'),
    () => new Response('busy', { status: 503 }),
    () => {
      throw new TypeError('network');
    },
    () => body('id: 2\nevent: log\ndata: {}\n\nid: 3\nevent: done\ndata: {}\n\n'),
  ];
  const seen: string[] = [];
  let interruptions = 0;
  await readEventStream({
    connect: async (lastEventId) => {
      asked.push(lastEventId);
      return (answers.shift() ?? (() => body()))();
    },
    onEvents: (events) => seen.push(...events.map(({ id }) => id)),
    isLast: ({ event }) => event === 'done',
    onInterrupted: () => interruptions++,
    signal: new AbortController().signal,
    firstRetryMs: 1,
  });
  expect(asked).toEqual([null, '1', '1', '1']);
  expect(seen).toEqual(['1', '2', '3']);
  expect(interruptions).toBe(3);
});

test('a refusal ends the reading at once', async () => {
  const reading = readEventStream({
    connect: async () => new Response('', { status: 404 }),
    onEvents: () => {},
    isLast: () => false,
    onInterrupted: () => {},
    signal: new AbortController().signal,
  });
  await expect(reading).rejects.toMatchObject({ status: 404 });
});

test('unknown types of events change nothing, and lines have their levels', () => {
  const { live, lines } = applyEvents(EMPTY_LIVE_RUN, [
    { id: '1000001', event: 'status', data: '{"status":"running","at":"2026-01-05T09:00:00.000Z"}' },
    { id: '1000002', event: 'log', data: '{"text":"line","level":"warning"}' },
    { id: '1000003', event: 'of the future', data: 'not JSON' },
  ]);
  expect(lines).toMatchObject([{ id: '1000002', level: 'warning', plain: 'line' }]);
  const at = Date.parse('2026-01-05T09:00:00.000Z');
  expect(live).toMatchObject({ started: true, statuses: [{ attempt: 1, status: 'running', at }] });
});
