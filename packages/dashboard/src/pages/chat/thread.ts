/** A conversation in the cache: as it was fetched, plus all later events of its stream. */

import { parseEventData, type StreamEvent } from '@gantry/sdk';
import type { ChatCall, ChatTurn, Conversation } from '../../shell/api';

export interface Thread extends Conversation {
  hasEarlier: boolean;
  /** By call, where this page has seen it begin and end; in milliseconds. */
  durations: Readonly<Record<string, number>>;
  /** By message, where this page has seen it end; in US dollars. */
  costs: Readonly<Record<string, number>>;
  /** The time of the stream's last event; null after a disconnection. Epoch milliseconds. */
  heardAt: number | null;
  /** A message was sent elsewhere: the conversation has to be refetched. */
  isBehind: boolean;
}

type Part = ChatTurn['parts'][number];

const nothingSeen = { durations: {}, costs: {}, heardAt: null, isBehind: false };

export const newThread = (conversation: Conversation, hasEarlier: boolean): Thread => ({
  ...conversation,
  hasEarlier,
  ...nothingSeen,
});

/** Merges a refetched conversation: keeps earlier messages and measurements if there is no gap between the two. */
export function readAgain(before: Thread | undefined, read: Thread): Thread {
  const first = read.turns[0];
  const place = before?.turns.findIndex(({ id }) => id === first?.id) ?? -1;
  if (!before || place < 0) return read;
  return {
    ...read,
    turns: [...before.turns.slice(0, place), ...read.turns],
    hasEarlier: place > 0 ? before.hasEarlier : read.hasEarlier,
    durations: before.durations,
    costs: before.costs,
  };
}

/** Prepends an earlier page. */
export function withEarlier(thread: Thread, earlier: ChatTurn[], hasEarlier: boolean): Thread {
  const known = new Set(thread.turns.map(({ id }) => id));
  return { ...thread, turns: [...earlier.filter(({ id }) => !known.has(id)), ...thread.turns], hasEarlier };
}

/** Appends a message that was just accepted, unless it has been fetched already. */
export function withMessage(thread: Thread, { turnId, eventId, message }: Begun & { message: string }): Thread {
  if (thread.turns.some(({ id }) => id === turnId)) return thread;
  const now = new Date().toISOString();
  const turn: ChatTurn = {
    ...{ id: turnId, message, status: 'running', error: null, parts: [] },
    ...{ created_at: now, ended_at: null },
  };
  const turns = [...thread.turns, turn];
  return { ...thread, turns, status: 'running', updated_at: now, last_event_id: eventId, heardAt: Date.now() };
}

export interface Begun {
  conversationId: string;
  turnId: string;
  /** The id of the event that named the two; the agent's work follows it. */
  eventId: number;
}

/** @param now epoch milliseconds */
export function applyEvents(before: Thread, events: StreamEvent[], now: number): Thread {
  let thread = before;
  for (const told of events) {
    const id = Number(told.id);
    // The fetched conversation contains it already.
    if (id <= thread.last_event_id) continue;
    thread = { ...applyEvent(thread, told.event, parseEventData(told), now), last_event_id: id, heardAt: now };
  }
  return thread;
}

/** Ignores events of unknown types. */
function applyEvent(thread: Thread, event: string, body: Body, now: number): Thread {
  switch (event) {
    case 'meta':
      return { ...thread, isBehind: thread.isBehind || body.turn_id !== thread.turns.at(-1)?.id };
    case 'text':
      return withLast(thread, (turn) => ({ ...turn, parts: withText(turn.parts, String(body.text ?? '')) }));
    case 'tool_call':
    case 'approval': {
      const call: ChatCall = { ...(body as unknown as ChatCall), type: 'tool_call', result: null, links: [] };
      return rested(withLast(thread, (turn) => ({ ...turn, parts: withCall(turn.parts, call) })));
    }
    case 'tool_result':
      return rested(withResult(thread, body as unknown as Result, now));
    case 'done':
      return withEnd(thread, body as unknown as End, now);
    default:
      return thread;
  }
}

type Body = Record<string, unknown>;
type Result = Pick<ChatCall, 'call_id' | 'status' | 'result' | 'links'>;
type End = Pick<ChatTurn, 'status'> & { error?: ChatTurn['error']; usage?: { usd: number } };

function withLast(thread: Thread, change: (turn: ChatTurn) => ChatTurn): Thread {
  const last = thread.turns.at(-1);
  return last ? { ...thread, turns: [...thread.turns.slice(0, -1), change(last)] } : thread;
}

/** Appends text to the last part, or starts a text part after a call. */
function withText(parts: Part[], text: string): Part[] {
  const last = parts.at(-1);
  if (last?.type !== 'text') return [...parts, { type: 'text', text, partial: false }];
  return [...parts.slice(0, -1), { ...last, text: last.text + text }];
}

const isCall = (part: Part, callId: string): part is ChatCall => part.type === 'tool_call' && part.call_id === callId;

const withCall = (parts: Part[], call: ChatCall): Part[] =>
  parts.some((part) => isCall(part, call.call_id))
    ? parts.map((part) => (isCall(part, call.call_id) ? { ...part, status: call.status } : part))
    : [...parts, call];

/** Measures a call from the event before it, since calls are made one after another. */
function withResult(thread: Thread, { call_id: callId, ...result }: Result, now: number): Thread {
  const ms = result.status === 'declined' || thread.heardAt === null ? 0 : now - thread.heardAt;
  const durations = ms > 0 ? { ...thread.durations, [callId]: ms } : thread.durations;
  return withLast({ ...thread, durations }, (turn) => ({
    ...turn,
    parts: turn.parts.map((part) => (isCall(part, callId) ? { ...part, ...result } : part)),
  }));
}

function withEnd(thread: Thread, { status, error = null, usage }: End, now: number): Thread {
  const id = thread.turns.at(-1)?.id;
  const costs = id && usage ? { ...thread.costs, [id]: usage.usd } : thread.costs;
  const ended = { status, error, ended_at: new Date(now).toISOString() };
  return withLast({ ...thread, status, costs }, (turn) => ({ ...turn, ...ended }));
}

/** Sets the status to waiting once only the member's decision is missing. */
function rested(thread: Thread): Thread {
  const calls = thread.turns.at(-1)?.parts.filter((part) => part.type === 'tool_call') ?? [];
  const waits = calls.some(({ status }) => status === 'pending') && !calls.some(({ status }) => isOpen(status));
  const status = waits ? 'waiting' : 'running';
  return withLast({ ...thread, status }, (turn) => ({ ...turn, status }));
}

const isOpen = (status: ChatCall['status']): boolean => status === 'ready' || status === 'running';

/** Applies a decision on a call. @param status the new status of the conversation */
export function withDecision(thread: Thread, callId: string, approve: boolean, status: Thread['status']): Thread {
  const decided = approve ? 'ready' : 'declined';
  return withLast({ ...thread, status, heardAt: Date.now() }, (turn) => ({
    ...turn,
    status,
    parts: turn.parts.map((part) => (isCall(part, callId) ? { ...part, status: decided } : part)),
  }));
}
