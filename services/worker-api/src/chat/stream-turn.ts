/** Streams conversations to readers on any replica: events are read from the table. */
import { notFound } from '@gantry/errors';
import { startEventStream, writeWithBackpressure } from '@gantry/http';
import type { Response } from 'express';
import type { ChatService } from './chat-service';
import { interruptLostTurns } from './end-turn';
import { EVENTS_PER_READ, listEvents, type StoredEvent } from './event-repository';
import { findLastTurn, findTurn, type Turn } from './turn-repository';

const POLL_MS = 1_000;
const HEARTBEAT_MS = 15_000;

type StreamPosition = { after: number } | { turnId: string };

/** Streams until the agent is idle and every event is sent, or the reader disconnects. 204 without events. */
export async function streamEvents(
  service: ChatService,
  res: Response,
  conversationId: string,
  from: StreamPosition,
): Promise<void> {
  const { deps, signals } = service;
  let position = from;
  let lastWriteAt = Date.now();
  while (!res.closed) {
    // Subscribes before it reads, so that an event in between wakes it.
    const notified = signals.wait(conversationId, POLL_MS);
    const nextEvents = await listEvents(deps.pool, conversationId, position);
    if (expectsMoreEvents(nextEvents)) {
      position = await writeEvents(res, nextEvents, position);
      lastWriteAt = Date.now();
      if (nextEvents.length < EVENTS_PER_READ) await notified;
      continue;
    }
    const turn = await findLastTurn(deps.pool, conversationId);
    if (turn?.isLost) await interruptLostTurns(deps.pool, conversationId);
    // Read after the turn: if that is idle, these are all events.
    const events = await listEvents(deps.pool, conversationId, position);
    if (events.length === 0 && turn?.status !== 'running') break;
    startEventStreamOnce(res);
    position = await writeEvents(res, events, position);
    if (events.length > 0) lastWriteAt = Date.now();
    else if (Date.now() - lastWriteAt > HEARTBEAT_MS) {
      lastWriteAt = Date.now();
      await writeWithBackpressure(res, ': still there\n\n');
    }
    if (events.length === 0) await notified;
  }
  if (!res.headersSent) res.status(204);
  res.end();
}

/** @returns whether more events must follow the last of these; if not, the turn's status decides */
const expectsMoreEvents = (events: StoredEvent[]): boolean =>
  events.length > 0 && !['done', 'approval'].includes(events.at(-1)?.type ?? '');

/** @returns the position after the last event */
async function writeEvents(res: Response, events: StoredEvent[], position: StreamPosition): Promise<StreamPosition> {
  if (events.length > 0) startEventStreamOnce(res);
  for (const event of events) await writeWithBackpressure(res, formatEvent(event));
  const last = events.at(-1);
  return last ? { after: last.id } : position;
}

const formatEvent = ({ id, type, data }: StoredEvent): string =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;

function startEventStreamOnce(res: Response): void {
  if (res.headersSent) return;
  startEventStream(res);
  res.flushHeaders();
}

const WAIT_MS = 50_000;

/** Waits until the agent is idle; returns the turn as it is on a timeout, or if the client disconnects. */
export async function waitForTurn(service: ChatService, res: Response, turnId: string): Promise<Turn> {
  const until = Date.now() + WAIT_MS;
  let turn = await getTurn(service, turnId);
  while (turn.status === 'running' && !res.closed && Date.now() < until) {
    const notified = service.signals.wait(turn.conversationId, POLL_MS);
    turn = await getTurn(service, turnId);
    if (turn.isLost) await interruptLostTurns(service.deps.pool, turn.conversationId);
    else if (turn.status === 'running') await notified;
  }
  return turn;
}

async function getTurn({ deps }: ChatService, id: string): Promise<Turn> {
  const turn = await findTurn(deps.pool, id);
  if (!turn) throw notFound('message', id);
  return turn;
}
