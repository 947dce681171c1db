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
  lastEventAt: number | null;
  /** A message was sent elsewhere: the conversation has to be refetched. */
  isBehind: boolean;
}

type Part = ChatTurn['parts'][number];

const INITIAL_STREAM_STATE = { durations: {}, costs: {}, lastEventAt: null, isBehind: false };

export const createThread = (conversation: Conversation, hasEarlier: boolean): Thread => ({
  ...conversation,
  hasEarlier,
  ...INITIAL_STREAM_STATE,
});

/** Merges a refetched conversation: keeps earlier messages and measurements if there is no gap between the two. */
export function mergeRefetchedThread(previous: Thread | undefined, refetched: Thread): Thread {
  const first = refetched.turns[0];
  const place = previous?.turns.findIndex(({ id }) => id === first?.id) ?? -1;
  if (!previous || place < 0) return refetched;
  return {
    ...refetched,
    turns: [...previous.turns.slice(0, place), ...refetched.turns],
    hasEarlier: place > 0 ? previous.hasEarlier : refetched.hasEarlier,
    durations: previous.durations,
    costs: previous.costs,
  };
}

/** Prepends an earlier page. */
export function prependEarlierTurns(thread: Thread, earlier: ChatTurn[], hasEarlier: boolean): Thread {
  const known = new Set(thread.turns.map(({ id }) => id));
  return { ...thread, turns: [...earlier.filter(({ id }) => !known.has(id)), ...thread.turns], hasEarlier };
}

/** Appends a message that was just accepted, unless it has been fetched already. */
export function appendMessage(thread: Thread, { turnId, eventId, message }: SentMessage & { message: string }): Thread {
  if (thread.turns.some(({ id }) => id === turnId)) return thread;
  const now = new Date().toISOString();
  const turn: ChatTurn = {
    id: turnId,
    message,
    status: 'running',
    error: null,
    parts: [],
    created_at: now,
    ended_at: null,
  };
  const turns = [...thread.turns, turn];
  return { ...thread, turns, status: 'running', updated_at: now, last_event_id: eventId, lastEventAt: Date.now() };
}

export interface SentMessage {
  conversationId: string;
  turnId: string;
  /** The id of the event that named the two; the agent's work follows it. */
  eventId: number;
}

/** @param now epoch milliseconds */
export function applyEvents(before: Thread, events: StreamEvent[], now: number): Thread {
  let thread = before;
  for (const event of events) {
    const id = Number(event.id);
    // The fetched conversation contains it already.
    if (id <= thread.last_event_id) continue;
    thread = { ...applyEvent(thread, event.event, parseEventData(event), now), last_event_id: id, lastEventAt: now };
  }
  return thread;
}

/** Ignores events of unknown types. */
function applyEvent(thread: Thread, event: string, body: EventBody, now: number): Thread {
  switch (event) {
    case 'meta':
      return { ...thread, isBehind: thread.isBehind || body.turn_id !== thread.turns.at(-1)?.id };
    case 'text':
      return updateLastTurn(thread, (turn) => ({ ...turn, parts: appendText(turn.parts, String(body.text ?? '')) }));
    case 'tool_call':
    case 'approval': {
      const call: ChatCall = { ...(body as ChatCall), type: 'tool_call', result: null, links: [] };
      return applyWaitingStatus(updateLastTurn(thread, (turn) => ({ ...turn, parts: upsertCall(turn.parts, call) })));
    }
    case 'tool_result':
      return applyWaitingStatus(applyToolResult(thread, body as ToolResult, now));
    case 'done':
      return applyTurnEnd(thread, body as TurnEnd, now);
    default:
      return thread;
  }
}

type EventBody = Record<string, unknown>;
type ToolResult = Pick<ChatCall, 'call_id' | 'status' | 'result' | 'links'>;
type TurnEnd = Pick<ChatTurn, 'status'> & { error?: ChatTurn['error']; usage?: { usd: number } };

function updateLastTurn(thread: Thread, change: (turn: ChatTurn) => ChatTurn): Thread {
  const last = thread.turns.at(-1);
  return last ? { ...thread, turns: [...thread.turns.slice(0, -1), change(last)] } : thread;
}

/** Appends text to the last part, or starts a text part after a call. */
function appendText(parts: Part[], text: string): Part[] {
  const last = parts.at(-1);
  if (last?.type !== 'text') return [...parts, { type: 'text', text, partial: false }];
  return [...parts.slice(0, -1), { ...last, text: last.text + text }];
}

const isCall = (part: Part, callId: string): part is ChatCall => part.type === 'tool_call' && part.call_id === callId;

const upsertCall = (parts: Part[], call: ChatCall): Part[] =>
  parts.some((part) => isCall(part, call.call_id))
    ? parts.map((part) => (isCall(part, call.call_id) ? { ...part, status: call.status } : part))
    : [...parts, call];

/** Measures a call from the event before it, since calls are made one after another. */
function applyToolResult(thread: Thread, { call_id: callId, ...result }: ToolResult, now: number): Thread {
  const ms = result.status === 'declined' || thread.lastEventAt === null ? 0 : now - thread.lastEventAt;
  const durations = ms > 0 ? { ...thread.durations, [callId]: ms } : thread.durations;
  return updateLastTurn({ ...thread, durations }, (turn) => ({
    ...turn,
    parts: turn.parts.map((part) => (isCall(part, callId) ? { ...part, ...result } : part)),
  }));
}

function applyTurnEnd(thread: Thread, { status, error = null, usage }: TurnEnd, now: number): Thread {
  const id = thread.turns.at(-1)?.id;
  const costs = id && usage ? { ...thread.costs, [id]: usage.usd } : thread.costs;
  const ended = { status, error, ended_at: new Date(now).toISOString() };
  return updateLastTurn({ ...thread, status, costs }, (turn) => ({ ...turn, ...ended }));
}

/** Sets the status to waiting once only the member's decision is missing. */
function applyWaitingStatus(thread: Thread): Thread {
  const calls = thread.turns.at(-1)?.parts.filter((part) => part.type === 'tool_call') ?? [];
  const waits = calls.some(({ status }) => status === 'pending') && !calls.some(({ status }) => isCallOpen(status));
  const status = waits ? 'waiting' : 'running';
  return updateLastTurn({ ...thread, status }, (turn) => ({ ...turn, status }));
}

const isCallOpen = (status: ChatCall['status']): boolean => status === 'ready' || status === 'running';

/** Applies a decision on a call. @param status the new status of the conversation */
export function applyDecision(thread: Thread, callId: string, approve: boolean, status: Thread['status']): Thread {
  const callStatus = approve ? 'ready' : 'declined';
  return updateLastTurn({ ...thread, status, lastEventAt: Date.now() }, (turn) => ({
    ...turn,
    status,
    parts: turn.parts.map((part) => (isCall(part, callId) ? { ...part, status: callStatus } : part)),
  }));
}
