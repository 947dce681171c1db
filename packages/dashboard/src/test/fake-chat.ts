/** Fakes the chat API. The agent does nothing on its own: a test drives it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WorkerSchemas } from '@gantry/sdk';
import { type FakeRequest, type FakeResponse, takeRefusal } from './fake-accounts';
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
  refuseNext: FakeResponse | null;
}

export const buildModel = (model: string, over: Partial<Schemas['Model']> = {}): Schemas['Model'] => ({
  id: `local/${model}`,
  provider: 'local',
  provided_by: 'operator',
  model,
  aliases: [],
  is_default: false,
  price: null,
  next_price: null,
  ...over,
});

/** Builds the usage of a month without model calls. */
export const buildModelUsage = (over: Partial<Schemas['ModelUsage']> = {}): Schemas['ModelUsage'] => ({
  month: '2026-01',
  usd: 0,
  budget_usd: null,
  reserved_usd: 0,
  calls: 0,
  unpriced_calls: 0,
  models: [],
  ...over,
});

const EXAMPLE_MESSAGE = 'Create a worker that counts the words in a piece of text and runs daily at 9:00.';

export const createChatState = (): FakeChat => ({
  models: [buildModel('qwen3', { is_default: true })],
  modelUsage: buildModelUsage(),
  suggestions: [EXAMPLE_MESSAGE, 'What can you do here?'],
  list: [],
  sent: [],
  followed: [],
  refuseNext: null,
});

let count = 0;

export function buildConversation(title: string, turns: Partial<Turn>[] = []): FakeConversation {
  const at = new Date().toISOString();
  return {
    id: `cnv_${++count}`,
    title,
    status: 'completed',
    created_at: at,
    updated_at: at,
    last_event_id: 0,
    turns: turns.map(buildTurn),
    events: [],
    watchers: new Set(),
  };
}

const buildTurn = (over: Partial<Turn>): Turn => ({
  id: `trn_${++count}`,
  message: '',
  status: 'completed',
  error: null,
  parts: [],
  created_at: new Date(Date.now() - 65_000).toISOString(),
  ended_at: new Date(Date.now() - 60_600).toISOString(),
  ...over,
});

export const buildCall = (over: Partial<Call> = {}): Call => ({
  type: 'tool_call',
  call_id: `call_${++count}`,
  name: 'list_workers',
  title: 'List workers',
  arguments: {},
  status: 'done',
  result: '{"items":[]}',
  links: [],
  ...over,
});

const getLastTurn = ({ turns }: FakeConversation): Turn => turns.at(-1) as Turn;

/** Emits an event to the clients, and stores it in the conversation as the server does. */
function emitEvent(conversation: FakeConversation, event: string, data: object): void {
  const id = conversation.events.length + 1;
  conversation.events.push({ id, event, data });
  for (const watcher of conversation.watchers) watcher.write(formatEventFrame({ id, event, data }));
}

const formatEventFrame = ({ id, event, data }: FakeConversation['events'][number]) =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Marks all emitted events as contained in the conversation. */
const markPersisted = (conversation: FakeConversation): void => {
  conversation.last_event_id = conversation.events.length;
};

/** Streams text, which `requestCalls` or `endTurn` adds to the conversation. */
export const streamText = (conversation: FakeConversation, text: string): void =>
  emitEvent(conversation, 'text', { text });

/** Ends a response of the model with the calls that it requests. */
export function requestCalls(conversation: FakeConversation, ...calls: Call[]): void {
  persistText(conversation);
  for (const call of calls) {
    getLastTurn(conversation).parts.push(call);
    const { call_id, name, title, arguments: input, status } = call;
    const data = { call_id, name, title, arguments: input, status };
    emitEvent(conversation, 'tool_call', data);
    if (status === 'pending') emitEvent(conversation, 'approval', data);
  }
  markPersisted(conversation);
}

function persistText(conversation: FakeConversation): void {
  const unpersistedEvents = conversation.events.slice(conversation.last_event_id);
  const text = unpersistedEvents
    .map(({ event, data }) => (event === 'text' ? (data as { text: string }).text : ''))
    .join('');
  if (text) getLastTurn(conversation).parts.push({ type: 'text', text, partial: false });
}

export function completeCall(conversation: FakeConversation, call: Call, over: Partial<Call> = {}): void {
  Object.assign(call, { status: 'done', result: '{"ok":true}' }, over);
  const { call_id, status, result, links } = call;
  emitEvent(conversation, 'tool_result', { call_id, status, result, links });
  markPersisted(conversation);
}

/** Suspends the agent until the member decides. */
export function waitForDecision(conversation: FakeConversation): void {
  conversation.status = getLastTurn(conversation).status = 'waiting';
  endStreams(conversation);
}

/** Ends the agent's turn. */
export function endTurn(
  conversation: FakeConversation,
  status: Turn['status'] = 'completed',
  error?: Turn['error'],
): void {
  persistText(conversation);
  Object.assign(getLastTurn(conversation), { status, error: error ?? null, ended_at: new Date().toISOString() });
  conversation.status = status;
  const usage = { input_tokens: 812, output_tokens: 9, usd: 0.0008 };
  emitEvent(conversation, 'done', { status, ...(error && { error }), usage });
  markPersisted(conversation);
  endStreams(conversation);
}

const endStreams = ({ watchers }: FakeConversation): void => {
  for (const watcher of watchers) watcher.end();
};

/** Drops its streams, as a restarting server does. */
export const dropStreams = ({ watchers }: FakeConversation): void => {
  for (const watcher of watchers) watcher.destroy();
};

export type ChatResponse = FakeResponse | { follow: FakeConversation; after: number };

/** Returns undefined for requests of another resource. */
export async function handleChatRequest(
  fake: FakeChat,
  { line, part, query, signedIn, body }: FakeRequest,
  lastEventId: string | undefined,
): Promise<ChatResponse | undefined> {
  if (!['chat', 'conversations', 'models'].includes(part[2] ?? '')) return undefined;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  if (line === 'GET /api/models') return { status: 200, body: fake.models };
  if (line === 'GET /api/models/usage') return { status: 200, body: fake.modelUsage };
  if (part[3] === 'suggestions') return { status: 200, body: { suggestions: fake.suggestions } };
  if (line === 'POST /api/chat')
    return acceptMessage(fake, (await body()) as { message: string; conversation_id?: string });
  const offset = Number(query.get('offset') ?? 0);
  const limit = Number(query.get('limit'));
  if (!part[3]) return { status: 200, body: fake.list.slice(offset, offset + limit).map(toConversationHead) };
  const conversation = fake.list.find(({ id }) => id === part[3]);
  if (!conversation) return { status: 404, body: { detail: 'no such conversation', code: 'not_found' } };
  if (part[4] === 'events') {
    fake.followed.push(lastEventId);
    return { follow: conversation, after: Number(lastEventId ?? 0) };
  }
  if (part[4] === 'approvals')
    return decide(fake, conversation, line, part[5], (await body()) as unknown as { approve: boolean });
  if (part[4] === 'stop') {
    if (conversation.status === 'running' || conversation.status === 'waiting') endTurn(conversation, 'stopped');
    return { status: 200, body: toConversationHead(conversation) };
  }
  if (part[4] === 'resume') {
    if (conversation.status !== 'interrupted')
      return { status: 409, body: { detail: 'it goes on', code: 'not_interrupted' } };
    fake.sent.push({ line, body: {} });
    Object.assign(getLastTurn(conversation), { status: 'running', error: null, ended_at: null });
    conversation.status = 'running';
    emitEvent(conversation, 'meta', {
      conversation_id: conversation.id,
      turn_id: getLastTurn(conversation).id,
      model: 'local/qwen3',
    });
    markPersisted(conversation);
    return { status: 200, body: toConversationHead(conversation) };
  }
  if (line.startsWith('PATCH')) Object.assign(conversation, await body());
  if (line.startsWith('DELETE')) {
    fake.list = fake.list.filter((one) => one !== conversation);
    return { status: 204 };
  }
  const { watchers, events, ...publicFields } = conversation;
  const turns = conversation.turns.slice(
    Math.max(0, conversation.turns.length - offset - limit),
    conversation.turns.length - offset,
  );
  return { status: 200, body: line.startsWith('GET') ? { ...publicFields, turns } : toConversationHead(conversation) };
}

const toConversationHead = ({
  id,
  title,
  status,
  created_at,
  updated_at,
}: FakeConversation): Schemas['ConversationHead'] => ({
  id,
  title,
  status,
  created_at,
  updated_at,
});

function acceptMessage(fake: FakeChat, input: { message: string; conversation_id?: string }): ChatResponse {
  fake.sent.push({ line: 'POST /api/chat', body: input });
  const refusal = takeRefusal(fake);
  if (refusal) return refusal;
  const existing = fake.list.find(({ id }) => id === input.conversation_id);
  if (existing?.status === 'running') return { status: 409, body: { detail: 'busy', code: 'turn_under_way' } };
  const conversation = existing ?? buildConversation(input.message.slice(0, 80));
  fake.list = [conversation, ...fake.list.filter((one) => one !== conversation)];
  startTurn(conversation, input.message);
  return { follow: conversation, after: conversation.events.length - 1 };
}

/** Adds a message, and starts the agent's turn. */
export function startTurn(conversation: FakeConversation, message: string): void {
  const turn = buildTurn({ message, status: 'running', created_at: new Date().toISOString(), ended_at: null });
  conversation.turns.push(turn);
  conversation.status = 'running';
  emitEvent(conversation, 'meta', { conversation_id: conversation.id, turn_id: turn.id, model: 'local/qwen3' });
  markPersisted(conversation);
}

function decide(
  fake: FakeChat,
  conversation: FakeConversation,
  line: string,
  callId: string | undefined,
  input: { approve: boolean },
): ChatResponse {
  const calls = getLastTurn(conversation).parts.filter((one) => one.type === 'tool_call');
  const call = calls.find((one) => one.call_id === callId);
  if (call?.status !== 'pending') return { status: 409, body: { detail: 'decided', code: 'already_decided' } };
  fake.sent.push({ line, body: input });
  call.status = input.approve ? 'ready' : 'declined';
  if (!input.approve) completeCall(conversation, call, { status: 'declined', result: null });
  if (calls.every(({ status }) => status !== 'pending'))
    conversation.status = getLastTurn(conversation).status = 'running';
  return { status: 200, body: toConversationHead(conversation) };
}

export function streamChat(
  { follow, after }: Extract<ChatResponse, { follow: unknown }>,
  req: IncomingMessage,
  res: ServerResponse,
) {
  const missed = follow.events.filter(({ id }) => id > after);
  if (missed.length === 0 && follow.status !== 'running') return void res.writeHead(204).end();
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  res.flushHeaders();
  for (const event of missed) res.write(formatEventFrame(event));
  if (follow.status !== 'running') return void res.end();
  follow.watchers.add(res);
  req.once('close', () => follow.watchers.delete(res));
  res.once('close', () => follow.watchers.delete(res));
}
