import { AppError, conflict, notFound } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { OperationCall } from '@gantry/http';
import type { MarkCreated, Principal } from '@gantry/limits';
import { type Sql, transaction } from '@gantry/postgres';
import { toConversationTitle } from '../conversation/conversation-title';
import type { Agent, TurnActor } from './agent';
import type { ChatDeps } from './chat-deps';
import {
  type ConversationOwner,
  countConversations,
  getConversation,
  insertConversation,
  lockConversation,
  toOwner,
} from './conversation-repository';
import { endTurnWithEvent, interruptLostTurns } from './end-turn';
import { appendEvents } from './event-repository';
import type { Signals } from './signals';
import { buildResultEvent } from './store-response';
import {
  type CallPart,
  findLastTurn,
  insertTurn,
  listParts,
  reclaimInterruptedTurn,
  requestStop,
  resumeTurn,
  type Turn,
  transitionCall,
} from './turn-repository';

export interface ChatService {
  deps: ChatDeps;
  agent: Agent;
  signals: Signals;
}

const MESSAGE_BYTES_MAX = 100_000;
const TURNS_MAX = 200;
/** Conversations of one person or token in a workspace. */
const CONVERSATIONS_MAX = 1_000;
const RUNNING_TURNS_MAX = 20;

/**
 * Stores the message and lets the agent begin.
 * @throws AppError 404, 409 for a conversation that is busy or full or `no_model`, 413
 */
export async function startTurn(
  { deps, agent }: ChatService,
  { caller, markCreated, turnActor }: { caller: Principal; markCreated: MarkCreated; turnActor: TurnActor },
  { message, conversation_id: conversationId, model }: OperationCall<'worker', 'chat'>['body'],
): Promise<{ id: string; conversationId: string }> {
  const { pool, models } = deps;
  const [first] = (await models.forWorkspace(caller.workspaceId)).resolve(model);
  const bytes = Buffer.byteLength(message);
  if (bytes > MESSAGE_BYTES_MAX) {
    const detail = `message: is ${bytes} bytes, but the limit is ${MESSAGE_BYTES_MAX}; put long text in a context`;
    throw new AppError('too_large', 'message_too_long', detail);
  }
  const owner = toOwner(caller);
  if (conversationId !== undefined) {
    await getConversation(pool, owner, conversationId);
    await interruptLostTurns(pool, conversationId);
  }
  const turn = { id: newId('trn_'), conversationId: conversationId ?? newId('cnv_'), message, model: model ?? '' };
  await transaction(pool, async (tx) => {
    const last = conversationId === undefined ? undefined : await lockLastTurn(tx, owner, conversationId);
    requireIdleConversation(last);
    if (conversationId === undefined) requireConversationLimit(await countConversations(tx, owner));
    if (conversationId === undefined)
      await insertConversation(tx, owner, { id: turn.conversationId, title: toConversationTitle(message) });
    await insertTurn(tx, { ...turn, number: (last?.number ?? 0) + 1, replica: agent.replica });
    const data = { conversation_id: turn.conversationId, turn_id: turn.id, model: first.id };
    await appendEvents(tx, { conversationId: turn.conversationId, turnId: turn.id }, [{ type: 'meta', data }]);
    await markCreated(tx, turn.id);
  });
  agent.start(turn, turnActor);
  return turn;
}

function requireConversationLimit({ total, running }: { total: number; running: number }): void {
  if (total >= CONVERSATIONS_MAX) {
    throw conflict('too_many_conversations', `you already have ${CONVERSATIONS_MAX} conversations; delete some first`);
  }
  requireRunningTurnLimit({ running });
}

function requireRunningTurnLimit({ running }: { running: number }): void {
  if (running >= RUNNING_TURNS_MAX) {
    throw conflict(
      'too_many_turns',
      `the agent is already working in ${RUNNING_TURNS_MAX} other conversations; wait, or stop some of them`,
    );
  }
}

async function lockLastTurn(tx: Sql, owner: ConversationOwner, id: string): Promise<Turn | undefined> {
  await lockConversation(tx, owner, id);
  return findLastTurn(tx, id);
}

function requireIdleConversation(last: Turn | undefined): void {
  if (last?.status === 'running') {
    throw conflict('turn_under_way', 'the agent is still responding to an earlier message; wait, or stop the response');
  }
  if (last?.status === 'waiting') {
    throw conflict(
      'approval_waiting',
      'a call in this conversation is waiting for a decision; approve or decline it, or stop the response',
    );
  }
  if (last && last.number >= TURNS_MAX) {
    throw conflict('conversation_full', `this conversation has ${TURNS_MAX} messages; start a new conversation`);
  }
}

/** @throws AppError 404, 409 `already_decided` */
export async function decideCall(
  { deps, agent, signals }: ChatService,
  { caller, turnActor }: { caller: Principal; turnActor: TurnActor },
  { conversationId, callId, approve }: { conversationId: string; callId: string; approve: boolean },
): Promise<void> {
  const owner = toOwner(caller);
  const resumedTurn = await transaction(deps.pool, async (tx) => {
    const turn = await lockLastTurn(tx, owner, conversationId);
    const parts = turn ? await listParts(tx, [turn.id]) : [];
    const calls = parts.filter((part): part is CallPart => part.kind === 'call');
    const call = calls.find((one) => one.callId === callId);
    if (!turn || !call) throw notFound('call', callId, 'in the last message of this conversation');
    const status = approve ? 'ready' : 'declined';
    if (turn.status !== 'waiting' || !(await transitionCall(tx, callId, 'pending', { status }))) {
      throw conflict('already_decided', `this call is not waiting for a decision: its status is ${call.status}`);
    }
    const about = { conversationId, turnId: turn.id };
    const declined = approve ? [] : [buildResultEvent({ callId, status, result: null, links: [] })];
    await appendEvents(tx, about, declined);
    if (calls.some((one) => one.callId !== callId && one.status === 'pending')) return undefined;
    await resumeTurn(tx, turn.id, agent.replica);
    return turn;
  });
  signals.notify(conversationId);
  if (resumedTurn) agent.start(resumedTurn, turnActor);
}

/**
 * The last message is worked on again, with the credential of the caller. What is stored is neither asked nor done
 * again.
 * @throws AppError 404, 409 `not_interrupted` or `no_model`
 */
export async function resumeInterruptedTurn(
  { deps, agent, signals }: ChatService,
  { caller, turnActor }: { caller: Principal; turnActor: TurnActor },
  id: string,
): Promise<void> {
  const owner = toOwner(caller);
  await getConversation(deps.pool, owner, id);
  await interruptLostTurns(deps.pool, id);
  const models = await deps.models.forWorkspace(caller.workspaceId);
  const turn = await transaction(deps.pool, async (tx) => {
    const last = await lockLastTurn(tx, owner, id);
    const others = await countConversations(tx, owner);
    if (last?.status !== 'interrupted' || !(await reclaimInterruptedTurn(tx, last.id, agent.replica))) {
      const detail = `the last message in this conversation was not interrupted: its status is ${last?.status}`;
      throw conflict('not_interrupted', detail);
    }
    const [first] = models.resolve(last.model || undefined);
    requireRunningTurnLimit(others);
    const data = { conversation_id: id, turn_id: last.id, model: first.id };
    await appendEvents(tx, { conversationId: id, turnId: last.id }, [{ type: 'meta', data }]);
    return last;
  });
  signals.notify(id);
  agent.start(turn, turnActor);
}

/** @throws AppError 404 */
export async function stopTurn({ deps, agent, signals }: ChatService, caller: Principal, id: string): Promise<void> {
  const stopped = await transaction(deps.pool, async (tx) => {
    const turn = await lockLastTurn(tx, toOwner(caller), id);
    if (turn?.status === 'waiting') await endTurnWithEvent(tx, turn, { status: 'stopped' });
    if (turn?.status === 'running') await requestStop(tx, turn.id);
    return turn;
  });
  if (stopped) agent.stop(stopped.id);
  signals.notify(id);
}
