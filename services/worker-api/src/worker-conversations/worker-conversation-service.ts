import { AppError, conflict, forbidden, invalid, notFound } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { Requester } from '@gantry/http';
import type { MarkCreated } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { isTerminal, type Run } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { toConversationTitle } from '../conversation/conversation-title';
import type { Worker } from '../generated/prisma/client';
import type { RequestOrigin } from '../runs/requested-run';
import { startRun } from '../runs/start-run';
import { lockWorker } from '../workers/worker-queries';
import { MEMORY_TURNS_MAX, toMemory } from './conversation-memory';
import { canDelete, type WorkerConversation } from './worker-conversation';
import type { WorkerConversationDeps } from './worker-conversation-deps';
import {
  countConversations,
  deleteConversation,
  getConversation,
  insertConversation,
  insertTurn,
  listTurns,
  lockConversation,
} from './worker-conversation-repository';

const CONVERSATIONS_MAX = 1_000;
const TURNS_MAX = 200;
const INPUTS_CHARS_MAX = 32 * 1024;
/** The input that a message is. */
const MESSAGE = 'message';

export interface MessageContext {
  worker: Worker;
  origin: RequestOrigin;
  markCreated: MarkCreated;
}

/**
 * With a message, its run starts in the same transaction.
 * @throws AppError 400, 409 `not_an_agent`, `no_message_input`, `too_many_conversations`, and what startRun throws
 */
export async function createConversation(
  deps: WorkerConversationDeps,
  { worker, origin, markCreated }: MessageContext,
  { message, inputs = {} }: { message?: string | undefined; inputs?: Record<string, unknown> | undefined },
): Promise<{ id: string; run: Run | null }> {
  await requireAgent(deps, worker);
  requireInputs(inputs);
  const { workspaceId, uid } = worker;
  const id = newId('wcv_');
  return transaction(deps.pool, async (tx) => {
    if (!(await lockWorker(tx, workspaceId, uid))) throw notFound('worker', worker.id);
    if ((await countConversations(tx, worker)) >= CONVERSATIONS_MAX) {
      const detail = `this worker already has ${CONVERSATIONS_MAX} conversations; delete some first`;
      throw conflict('too_many_conversations', detail);
    }
    await insertConversation(tx, { workspaceId, uid, id, inputs, createdBy: origin.createdBy });
    const run = message === undefined ? null : await startTurn(deps, tx, { worker, origin, id, inputs, message });
    await markCreated(tx, id);
    return { id, run };
  });
}

/** @throws AppError 404, 409 `turn_under_way`, `conversation_full`, and as createConversation */
export async function sendMessage(
  deps: WorkerConversationDeps,
  { worker, origin, markCreated }: MessageContext,
  { id, message }: { id: string; message: string },
): Promise<Run> {
  await requireAgent(deps, worker);
  return transaction(deps.pool, async (tx) => {
    const { inputs } = await lockConversation(tx, worker, id);
    const run = await startTurn(deps, tx, { worker, origin, id, inputs, message });
    await markCreated(tx, run.id);
    return run;
  });
}

interface NewTurn extends Pick<MessageContext, 'worker' | 'origin'>, Pick<WorkerConversation, 'id' | 'inputs'> {
  message: string;
}

async function startTurn(
  deps: WorkerConversationDeps,
  tx: PoolClient,
  { worker, origin, id, inputs, message }: NewTurn,
): Promise<Run> {
  const { turns, total } = await listTurns(tx, worker.workspaceId, id, { limit: MEMORY_TURNS_MAX, offset: 0 });
  const last = turns.at(-1);
  if (last && !isTerminal(last.run.status)) {
    const detail = `run ${last.run.id} is still answering the previous message; wait for it to finish, or cancel it`;
    throw conflict('turn_under_way', detail);
  }
  if (last && last.number >= TURNS_MAX) {
    throw conflict('conversation_full', `this conversation has ${TURNS_MAX} messages; start a new conversation`);
  }
  const conversation = toMemory(turns, total);
  const run = await startRun(deps, {
    worker,
    conversation,
    tx,
    trigger: 'api',
    ...origin,
    inputs: { ...inputs, [MESSAGE]: message },
  });
  const number = (last?.number ?? 0) + 1;
  const title = toConversationTitle(message);
  await insertTurn(tx, { id, number, message, runId: run.id, leftOut: conversation.leftOut, title });
  return run;
}

/** Messages are an input like any other, so a person says no more to an agent than its author lets runs be given. */
async function requireAgent(deps: WorkerConversationDeps, worker: Worker): Promise<void> {
  const { definition } = await deps.runnables.get(deps.pool, worker.uid, worker.currentVersion);
  if (definition.runner !== 'agent') {
    throw conflict('not_an_agent', `this worker runs ${definition.runner} code; only agents can have conversations`);
  }
  const { inputs } = definition;
  const takesMessages = inputs.some(({ name, type }) => name === MESSAGE && (type === 'text' || type === 'textarea'));
  if (inputs.length && !takesMessages) {
    const detail = `this agent declares inputs, but no text input named "${MESSAGE}"; add one to receive messages`;
    throw conflict('no_message_input', detail);
  }
}

function requireInputs(inputs: Record<string, unknown>): void {
  if (Object.hasOwn(inputs, MESSAGE)) {
    throw invalid([{ path: `inputs.${MESSAGE}`, message: 'is set from the message; omit it' }]);
  }
  if (JSON.stringify(inputs).length > INPUTS_CHARS_MAX) {
    const detail = `inputs: a conversation can have at most ${INPUTS_CHARS_MAX / 1024} KB of inputs; put long text in a context`;
    throw new AppError('too_large', 'inputs_too_large', detail);
  }
}

/** @throws AppError 403, 404 */
export async function removeConversation(
  { pool }: Pick<WorkerConversationDeps, 'pool'>,
  { caller }: Pick<Requester, 'caller'>,
  worker: Worker,
  id: string,
): Promise<void> {
  const conversation = await getConversation(pool, worker, id);
  if (!canDelete(caller, worker, conversation)) {
    throw forbidden('not_owner', "only its creator, the worker's owner and admins can delete this conversation");
  }
  await deleteConversation(pool, worker, id);
}
