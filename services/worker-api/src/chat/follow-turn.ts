/** Streams conversations to readers on any replica: events are read from the table. */
import { notFound, startEventStream, writeWithBackpressure } from '@gantry/http';
import type { Response } from 'express';
import type { ChatService } from './chat-service';
import { interruptLost } from './end-turn';
import { listEvents, READ_MAX, type StoredEvent } from './event-repository';
import { findLastTurn, findTurn, type Turn } from './turn-repository';

const LOOK_MS = 1_000;
const HEARTBEAT_MS = 15_000;

type From = { after: number } | { turnId: string };

/** Streams until the agent is idle and every event is sent, or the reader disconnects. 204 without events. */
export async function streamEvents(
  service: ChatService,
  res: Response,
  conversationId: string,
  from: From,
): Promise<void> {
  const { deps, signals } = service;
  let position = from;
  let heardAt = Date.now();
  while (!res.closed) {
    // Subscribes before it reads, so that an event in between wakes it.
    const told = signals.wait(conversationId, LOOK_MS);
    const news = await listEvents(deps.pool, conversationId, position);
    if (isMoreToCome(news)) {
      position = await writeEvents(res, news, position);
      heardAt = Date.now();
      if (news.length < READ_MAX) await told;
      continue;
    }
    const turn = await findLastTurn(deps.pool, conversationId);
    if (turn?.isLost) await interruptLost(deps.pool, conversationId);
    // Read after the turn: if that is idle, these are all events.
    const events = await listEvents(deps.pool, conversationId, position);
    if (events.length === 0 && turn?.status !== 'running') break;
    begin(res);
    position = await writeEvents(res, events, position);
    if (events.length > 0) heardAt = Date.now();
    else if (Date.now() - heardAt > HEARTBEAT_MS) {
      heardAt = Date.now();
      await writeWithBackpressure(res, ': still there\n\n');
    }
    if (events.length === 0) await told;
  }
  if (!res.headersSent) res.status(204);
  res.end();
}

/** @returns whether more events must follow the last of these; if not, the turn's status decides */
const isMoreToCome = (events: StoredEvent[]): boolean =>
  events.length > 0 && !['done', 'approval'].includes(events.at(-1)?.type ?? '');

/** @returns the position after the last event */
async function writeEvents(res: Response, events: StoredEvent[], position: From): Promise<From> {
  if (events.length > 0) begin(res);
  for (const event of events) await writeWithBackpressure(res, formatEvent(event));
  const last = events.at(-1);
  return last ? { after: last.id } : position;
}

const formatEvent = ({ id, type, data }: StoredEvent): string =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;

function begin(res: Response): void {
  if (res.headersSent) return;
  startEventStream(res);
  res.flushHeaders();
}

const WAIT_MS = 50_000;

/** Waits until the agent is idle; returns the turn as it is on a timeout, or if the client disconnects. */
export async function waitForTurn(service: ChatService, res: Response, turnId: string): Promise<Turn> {
  const until = Date.now() + WAIT_MS;
  let turn = await readTurn(service, turnId);
  while (turn.status === 'running' && !res.closed && Date.now() < until) {
    const told = service.signals.wait(turn.conversationId, LOOK_MS);
    turn = await readTurn(service, turnId);
    if (turn.isLost) await interruptLost(service.deps.pool, turn.conversationId);
    else if (turn.status === 'running') await told;
  }
  return turn;
}

async function readTurn({ deps }: ChatService, id: string): Promise<Turn> {
  const turn = await findTurn(deps.pool, id);
  if (!turn) throw notFound('message', id);
  return turn;
}
