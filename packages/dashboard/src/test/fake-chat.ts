/** Fakes the chat API. The agent does nothing on its own: a test drives it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WorkerSchemas } from '@gantry/sdk';
import type { FakeAnswer, FakeRequest } from './fake-accounts';
import type { FakeStream } from './fake-stream';

type Schemas = WorkerSchemas;
type Turn = Schemas['ChatTurn'];
type Call = Schemas['ChatCall'];

export type FakeConversation = Schemas['Conversation'] & FakeStream;

export interface FakeChat {
  models: Schemas['Model'][];
  modelUsage: Schemas['ModelUsage'];
  suggestions: string[];
  /** Most recently active conversation first. */
  list: FakeConversation[];
  /** Bodies of messages and decisions, as `METHOD /path` and what was sent. */
  sent: { line: string; body: object }[];
  /** `Last-Event-ID` of each client. */
  followed: (string | undefined)[];
  /** The error response to the next message. */
  refuseNext: FakeAnswer | null;
}

export const newModel = (model: string, over: Partial<Schemas['Model']> = {}): Schemas['Model'] => ({
  ...{
    id: `local/${model}`,
    provider: 'local',
    provided_by: 'operator',
    model,
    aliases: [],
    is_default: false,
    price: null,
    next_price: null,
  },
  ...over,
});

/** Builds the usage of a month without model calls. */
export const newModelUsage = (over: Partial<Schemas['ModelUsage']> = {}): Schemas['ModelUsage'] => ({
  ...{ month: '2026-01', usd: 0, budget_usd: null, reserved_usd: 0, calls: 0, unpriced_calls: 0, models: [] },
  ...over,
});

const SENTENCE = 'Make a worker that counts the words of a text, and run it daily at nine.';

export const newChat = (): FakeChat => ({
  models: [newModel('qwen3', { is_default: true })],
  modelUsage: newModelUsage(),
  suggestions: [SENTENCE, 'What can you do here?'],
  ...{ list: [], sent: [], followed: [], refuseNext: null },
});

let count = 0;

export function newConversation(title: string, turns: Partial<Turn>[] = []): FakeConversation {
  const at = new Date().toISOString();
  return {
    ...{ id: `cnv_${++count}`, title, status: 'completed', created_at: at, updated_at: at, last_event_id: 0 },
    turns: turns.map(newTurn),
    events: [],
    watchers: new Set(),
  };
}

const newTurn = (over: Partial<Turn>): Turn => ({
  ...{ id: `trn_${++count}`, message: '', status: 'completed', error: null, parts: [] },
  created_at: new Date(Date.now() - 65_000).toISOString(),
  ended_at: new Date(Date.now() - 60_600).toISOString(),
  ...over,
});

export const newCall = (over: Partial<Call> = {}): Call => ({
  ...{ type: 'tool_call', call_id: `call_${++count}`, name: 'list_workers', title: 'List workers', arguments: {} },
  ...{ status: 'done', result: '{"items":[]}', links: [] },
  ...over,
});

const lastOf = ({ turns }: FakeConversation): Turn => turns.at(-1) as Turn;

/** Emits an event to the clients, and stores it in the conversation as the server does. */
function tell(conversation: FakeConversation, event: string, data: object): void {
  const id = conversation.events.length + 1;
  conversation.events.push({ id, event, data });
  for (const watcher of conversation.watchers) watcher.write(frame({ id, event, data }));
}

const frame = ({ id, event, data }: FakeConversation['events'][number]) =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Marks all emitted events as contained in the conversation. */
const shown = (conversation: FakeConversation): void => {
  conversation.last_event_id = conversation.events.length;
};

/** Streams text, which `requestCalls` or `endTurn` adds to the conversation. */
export const say = (conversation: FakeConversation, text: string): void => tell(conversation, 'text', { text });

/** Ends a response of the model with the calls that it requests. */
export function ask(conversation: FakeConversation, ...calls: Call[]): void {
  keepWords(conversation);
  for (const call of calls) {
    lastOf(conversation).parts.push(call);
    const { call_id, name, title, arguments: given, status } = call;
    const data = { call_id, name, title, arguments: given, status };
    tell(conversation, 'tool_call', data);
    if (status === 'pending') tell(conversation, 'approval', data);
  }
  shown(conversation);
}

function keepWords(conversation: FakeConversation): void {
  const told = conversation.events.slice(conversation.last_event_id);
  const text = told.map(({ event, data }) => (event === 'text' ? (data as { text: string }).text : '')).join('');
  if (text) lastOf(conversation).parts.push({ type: 'text', text, partial: false });
}

export function answerCall(conversation: FakeConversation, call: Call, over: Partial<Call> = {}): void {
  Object.assign(call, { status: 'done', result: '{"ok":true}' }, over);
  const { call_id, status, result, links } = call;
  tell(conversation, 'tool_result', { call_id, status, result, links });
  shown(conversation);
}

/** Suspends the agent until the member decides. */
export function waitForPerson(conversation: FakeConversation): void {
  conversation.status = lastOf(conversation).status = 'waiting';
  endStreams(conversation);
}

/** Ends the agent's turn. */
export function rest(
  conversation: FakeConversation,
  status: Turn['status'] = 'completed',
  error?: Turn['error'],
): void {
  keepWords(conversation);
  Object.assign(lastOf(conversation), { status, error: error ?? null, ended_at: new Date().toISOString() });
  conversation.status = status;
  const usage = { input_tokens: 812, output_tokens: 9, usd: 0.0008 };
  tell(conversation, 'done', { status, ...(error && { error }), usage });
  shown(conversation);
  endStreams(conversation);
}

const endStreams = ({ watchers }: FakeConversation): void => {
  for (const watcher of watchers) watcher.end();
};

/** Drops its streams, as a restarting server does. */
export const breakStreams = ({ watchers }: FakeConversation): void => {
  for (const watcher of watchers) watcher.destroy();
};

export type ChatAnswer = FakeAnswer | { follow: FakeConversation; after: number };

/** Returns undefined for requests of another resource. */
export async function answerChat(
  fake: FakeChat,
  { line, part, query, signedIn, body }: FakeRequest,
  lastEventId: string | undefined,
): Promise<ChatAnswer | undefined> {
  if (!['chat', 'conversations', 'models'].includes(part[2] ?? '')) return undefined;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  if (line === 'GET /api/models') return { status: 200, body: fake.models };
  if (line === 'GET /api/models/usage') return { status: 200, body: fake.modelUsage };
  if (part[3] === 'suggestions') return { status: 200, body: { suggestions: fake.suggestions } };
  if (line === 'POST /api/chat') return take(fake, (await body()) as { message: string; conversation_id?: string });
  const offset = Number(query.get('offset') ?? 0);
  const limit = Number(query.get('limit'));
  if (!part[3]) return { status: 200, body: fake.list.slice(offset, offset + limit).map(headOf) };
  const found = fake.list.find(({ id }) => id === part[3]);
  if (!found) return { status: 404, body: { detail: 'no such conversation', code: 'not_found' } };
  if (part[4] === 'events') {
    fake.followed.push(lastEventId);
    return { follow: found, after: Number(lastEventId ?? 0) };
  }
  if (part[4] === 'approvals')
    return decide(fake, found, line, part[5], (await body()) as unknown as { approve: boolean });
  if (part[4] === 'stop') {
    if (found.status === 'running' || found.status === 'waiting') rest(found, 'stopped');
    return { status: 200, body: headOf(found) };
  }
  if (part[4] === 'resume') {
    if (found.status !== 'interrupted') return { status: 409, body: { detail: 'it goes on', code: 'not_interrupted' } };
    fake.sent.push({ line, body: {} });
    Object.assign(lastOf(found), { status: 'running', error: null, ended_at: null });
    found.status = 'running';
    tell(found, 'meta', { conversation_id: found.id, turn_id: lastOf(found).id, model: 'local/qwen3' });
    shown(found);
    return { status: 200, body: headOf(found) };
  }
  if (line.startsWith('PATCH')) Object.assign(found, await body());
  if (line.startsWith('DELETE')) {
    fake.list = fake.list.filter((one) => one !== found);
    return { status: 204 };
  }
  const { watchers, events, ...shownOf } = found;
  const turns = found.turns.slice(Math.max(0, found.turns.length - offset - limit), found.turns.length - offset);
  return { status: 200, body: line.startsWith('GET') ? { ...shownOf, turns } : headOf(found) };
}

const headOf = ({ id, title, status, created_at, updated_at }: FakeConversation): Schemas['ConversationHead'] => ({
  ...{ id, title, status, created_at, updated_at },
});

function take(fake: FakeChat, given: { message: string; conversation_id?: string }): ChatAnswer {
  fake.sent.push({ line: 'POST /api/chat', body: given });
  if (fake.refuseNext) {
    const refusal = fake.refuseNext;
    fake.refuseNext = null;
    return refusal;
  }
  const old = fake.list.find(({ id }) => id === given.conversation_id);
  if (old?.status === 'running') return { status: 409, body: { detail: 'busy', code: 'turn_under_way' } };
  const conversation = old ?? newConversation(given.message.slice(0, 80));
  fake.list = [conversation, ...fake.list.filter((one) => one !== conversation)];
  begin(conversation, given.message);
  return { follow: conversation, after: conversation.events.length - 1 };
}

/** Adds a message, and starts the agent's turn. */
export function begin(conversation: FakeConversation, message: string): void {
  const turn = newTurn({ message, status: 'running', created_at: new Date().toISOString(), ended_at: null });
  conversation.turns.push(turn);
  conversation.status = 'running';
  tell(conversation, 'meta', { conversation_id: conversation.id, turn_id: turn.id, model: 'local/qwen3' });
  shown(conversation);
}

function decide(
  fake: FakeChat,
  conversation: FakeConversation,
  line: string,
  callId: string | undefined,
  given: { approve: boolean },
): ChatAnswer {
  const calls = lastOf(conversation).parts.filter((one) => one.type === 'tool_call');
  const call = calls.find((one) => one.call_id === callId);
  if (call?.status !== 'pending') return { status: 409, body: { detail: 'decided', code: 'already_decided' } };
  fake.sent.push({ line, body: given });
  call.status = given.approve ? 'ready' : 'declined';
  if (!given.approve) answerCall(conversation, call, { status: 'declined', result: null });
  if (calls.every(({ status }) => status !== 'pending')) conversation.status = lastOf(conversation).status = 'running';
  return { status: 200, body: headOf(conversation) };
}

export function followChat(
  { follow, after }: Extract<ChatAnswer, { follow: unknown }>,
  req: IncomingMessage,
  res: ServerResponse,
) {
  const missed = follow.events.filter(({ id }) => id > after);
  if (missed.length === 0 && follow.status !== 'running') return void res.writeHead(204).end();
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  res.flushHeaders();
  for (const event of missed) res.write(frame(event));
  if (follow.status !== 'running') return void res.end();
  follow.watchers.add(res);
  req.once('close', () => follow.watchers.delete(res));
  res.once('close', () => follow.watchers.delete(res));
}
