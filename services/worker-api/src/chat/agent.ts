/**
 * Works on turns. What is to be done next is read from what is stored, so any replica goes on where a turn waited. Each
 * answer of a model and each result of a tool is stored, together with its cost and what streams tell of it, before the
 * next begins.
 */

import { AppError } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { ApiClient } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { maskStrings, type Redactor } from '@gantry/masking';
import { type Sql, startRepeatingTask, transaction } from '@gantry/postgres';
import type { ModelMessage, ToolSet } from 'ai';
import type { OfferedTool, Toolbox } from '../mcp/toolbox';
import { ModelCallError } from '../models/call-failure';
import { callModel, storeOrSettle } from '../models/call-model';
import type { ChatDeps } from './chat-deps';
import { CREDENTIAL_ENDED_ENDING, endTurnWithEvent, INTERRUPTED_ENDING, type TurnEnding } from './end-turn';
import { appendEvents, appendText, type ChatEvent } from './event-repository';
import { buildMessages, SYSTEM_PROMPT } from './messages';
import type { Signals } from './signals';
import { buildResultEvent, storeResponse } from './store-response';
import { createTextWriter } from './text-writer';
import { listLinks, toStoredResult } from './tool-result';
import {
  type CallPart,
  insertModelPart,
  listParts,
  listTurns,
  lockConversation,
  renewLease,
  suspendTurn,
  type Turn,
  transitionCall,
} from './turn-repository';

/** The author of the message, or the person who decided the last call: their rights and their money. */
export interface TurnActor {
  caller: Pick<Principal, 'workspaceId' | 'userId' | 'tokenId' | 'restriction'>;
  client: ApiClient;
}

type TurnKey = Pick<Turn, 'id' | 'conversationId' | 'model'>;

/** Aborts active work of a turn that no longer continues. */
class TurnEndedError extends Error {
  override name = 'AbortError';
  constructor(readonly how: 'stopped' | 'interrupted' | 'refused' | 'lost') {
    super(`the turn was ${how}`);
  }
}

const LEASE_RENEWAL_MS = 2_000;
/** Answers of models for one message. */
const STEPS_MAX = 25;
const HISTORY_TURNS_MAX = 50;

export type Agent = ReturnType<typeof createAgent>;

export function createAgent(deps: ChatDeps, signals: Signals) {
  const { pool, log } = deps;
  const replica = newId('rpl_');
  /** Made by the first message: where no model is configured it costs nothing. */
  let toolbox: Toolbox | undefined;
  const working = new Map<string, { stop: AbortController; ended: Promise<void> }>();

  /** A change of a turn that is held here, with what streams tell of it. @throws Ended where it is not held any more */
  async function commitTurnChange(turn: TurnKey, change: (tx: Sql) => Promise<ChatEvent[]>): Promise<void> {
    await transaction(pool, async (tx) => {
      const exists = await lockConversation(tx, turn);
      if (!exists || !(await renewLease(tx, turn.id, replica))) throw new TurnEndedError('lost');
      await appendEvents(tx, { conversationId: turn.conversationId, turnId: turn.id }, await change(tx));
    });
    signals.notify(turn.conversationId);
  }

  const finishTurn = (turn: TurnKey, ending: TurnEnding): Promise<void> =>
    transaction(pool, async (tx) => {
      const exists = await lockConversation(tx, turn);
      if (exists && (await renewLease(tx, turn.id, replica))) await endTurnWithEvent(tx, turn, ending);
    }).then(() => signals.notify(turn.conversationId));

  async function runTurn(turn: TurnKey, turnActor: TurnActor, stop: AbortController): Promise<void> {
    const { signal } = stop;
    toolbox ??= loadToolbox();
    const tools = await toolbox.list(turnActor.client, turnActor.caller.restriction, signal).catch((err) => {
      signal.throwIfAborted();
      log.warn({ err, turn: turn.id }, "the chat's tools could not be listed");
      const detail = "the agent's tools could not be listed; send your message again in a moment";
      throw new AppError('unavailable', 'tools_unavailable', detail);
    });
    const toolSetFor = createMaskedToolSets(tools);
    for (;;) {
      signal.throwIfAborted();
      const parts = await listParts(pool, [turn.id]);
      const calls = parts.filter((part): part is CallPart => part.kind === 'call');
      const ready = calls.filter(({ status }) => status === 'ready');
      for (const call of ready) await executeCall(turn, call, { turnActor, toolbox, signal });
      if (calls.some(({ status }) => status === 'pending')) {
        return commitTurnChange(turn, async (tx) => {
          if (!(await suspendTurn(tx, turn.id))) throw new TurnEndedError('stopped');
          return [];
        });
      }
      if (ready.length > 0) continue;
      const last = parts.at(-1);
      if (last?.kind === 'model' && !last.content.isPartial) return finishTurn(turn, { status: 'completed' });
      const steps = parts.length - calls.length;
      if (steps >= STEPS_MAX) {
        const detail = `the agent has taken ${STEPS_MAX} steps without finishing; send a message to continue`;
        return finishTurn(turn, { status: 'failed', error: { code: 'too_many_steps', detail } });
      }
      // No answer is paid for whose calls would be refused.
      await stopIfCredentialEnded(turnActor, stop);
      signal.throwIfAborted();
      await requestModelResponse(turn, turnActor, { tools, toolSetFor }, stop);
    }
  }

  async function requestModelResponse(
    turn: TurnKey,
    { caller }: TurnActor,
    { tools, toolSetFor }: { tools: Map<string, OfferedTool>; toolSetFor: (redactor: Redactor) => Promise<ToolSet> },
    stop: AbortController,
  ): Promise<void> {
    const { workspaceId, userId, tokenId, restriction } = caller;
    const models = (await deps.models.forWorkspace(workspaceId)).resolve(turn.model || undefined);
    const { turns } = await listTurns(pool, turn.conversationId, { limit: HISTORY_TURNS_MAX, offset: 0 });
    const parts = await listParts(
      pool,
      turns.map(({ id }) => id),
    );
    // A text that was read may hold what only runs are to see.
    const redactor = await deps.masking.redactorFor(await deps.secrets.valuesOf(workspaceId));
    const textWriter = createTextWriter(
      async (text) => {
        const { conversationId, id: turnId } = turn;
        if (!(await appendText(pool, { conversationId, turnId, replica }, text))) throw new TurnEndedError('lost');
        signals.notify(conversationId);
      },
      (err) => stop.abort(err),
    );
    let streamedText = '';
    const answer = await callModel(deps, {
      models,
      spender: { workspaceId, userId, tokenId, budgets: restriction?.budgets ?? null },
      about: { conversationId: turn.conversationId, turnId: turn.id },
      system: SYSTEM_PROMPT,
      messages: (await maskStrings(redactor, buildMessages(turns, parts))) as ModelMessage[],
      tools: await toolSetFor(redactor),
      signal: stop.signal,
      onText: (text) => {
        streamedText += text;
        textWriter.add(text);
      },
    })
      .finally(textWriter.end)
      .catch(async (err) => {
        // The part of a stopped answer that the person has read is kept.
        const content = { text: streamedText, isPartial: true };
        if (streamedText)
          await commitTurnChange(turn, (tx) => insertModelPart(tx, { turnId: turn.id, content }).then(() => []));
        throw err;
      });
    await storeOrSettle(pool, answer, () =>
      commitTurnChange(turn, async (tx) => {
        await answer.settle(tx);
        return storeResponse(tx, turn.id, answer, tools);
      }),
    );
    if (answer.failure) throw answer.failure;
    if (answer.isCut && !answer.content.some(({ type }) => type === 'tool-call')) {
      throw new ModelCallError('answer_too_long', `${answer.model}: the response is too long for one call`, false);
    }
  }

  async function executeCall(
    turn: TurnKey,
    call: CallPart,
    { turnActor: { caller, client }, toolbox, signal }: { turnActor: TurnActor; toolbox: Toolbox; signal: AbortSignal },
  ): Promise<void> {
    signal.throwIfAborted();
    const { callId } = call;
    const redactor = await deps.masking.redactorFor(await deps.secrets.valuesOf(caller.workspaceId));
    await commitTurnChange(turn, async (tx) => {
      if (!(await transitionCall(tx, callId, 'ready', { status: 'running' }))) throw new TurnEndedError('lost');
      return [];
    });
    const { name, workerId, arguments: given } = call.content;
    const { isError, text, structured } = await toolbox.call({ name, workerId, given }, client, signal).catch((err) => {
      signal.throwIfAborted();
      log.warn({ err, tool: name }, 'a chat tool could not be reached');
      return { isError: true, text: 'The tool could not be reached.', structured: undefined };
    });
    const status = isError ? 'failed' : 'done';
    const result = toStoredResult((await maskStrings(redactor, text)) as string);
    const links = isError ? [] : listLinks(deps.dashboardUrl, call.content, structured);
    await commitTurnChange(turn, async (tx) => {
      await transitionCall(tx, callId, 'running', { status, result, links });
      return [buildResultEvent({ callId, status, result, links })];
    });
  }

  /** Whatever happened: the turn ends, unless it is another's by now. */
  async function handleTurnError(turn: TurnKey, err: unknown): Promise<void> {
    if (err instanceof TurnEndedError) {
      if (err.how !== 'lost') await finishTurn(turn, TURN_ENDINGS[err.how]);
    } else if (err instanceof ModelCallError || err instanceof AppError) {
      await finishTurn(turn, { status: 'failed', error: { code: err.code, detail: err.detail } });
    } else {
      log.error({ err, turn: turn.id }, 'the chat turn failed');
      await finishTurn(turn, {
        status: 'failed',
        error: { code: 'internal', detail: 'an internal error occurred and was logged' },
      });
    }
  }

  async function runWithLease(turn: TurnKey, actor: TurnActor, stop: AbortController): Promise<void> {
    const hands = { ...actor, client: stopOnUnauthorized(actor.client, stop) };
    const renewing = startRepeatingTask({
      everyMs: LEASE_RENEWAL_MS,
      what: 'lease renewal for a chat turn',
      log,
      work: async () => {
        const held = await renewLease(pool, turn.id, replica);
        if (!held) stop.abort(new TurnEndedError('lost'));
        if (held === 'stop') stop.abort(new TurnEndedError('stopped'));
        if (deps.closures.has(hands.caller.workspaceId)) stop.abort(new TurnEndedError('interrupted'));
        await stopIfCredentialEnded(hands, stop);
      },
    });
    try {
      await runTurn(turn, hands, stop).catch((err) =>
        handleTurnError(turn, stop.signal.aborted ? stop.signal.reason : err),
      );
    } catch (err) {
      log.warn({ err, turn: turn.id }, 'could not store the end of a turn; the turn lease will expire');
    } finally {
      await renewing.stop();
      working.delete(turn.id);
    }
  }

  return {
    replica,
    /** Begins to work, or goes on, on a turn that this replica holds. */
    start(turn: TurnKey, turnActor: TurnActor): void {
      const stop = new AbortController();
      working.set(turn.id, { stop, ended: runWithLease(turn, turnActor, stop) });
    },
    /** At once where this replica works on it; another one sees it in its row. */
    stop: (turnId: string): void => working.get(turnId)?.stop.abort(new TurnEndedError('stopped')),
    /** Ends active turns as interrupted, before the process ends. */
    async drain(): Promise<void> {
      const left = [...working.values()];
      for (const { stop } of left) stop.abort(new TurnEndedError('interrupted'));
      await Promise.all(left.map(({ ended }) => ended));
    },
  };
}

function loadToolbox(): Toolbox {
  const { createToolbox } = require('../mcp/toolbox') as typeof import('../mcp/toolbox');
  return createToolbox();
}

const TURN_ENDINGS: Record<Exclude<TurnEndedError['how'], 'lost'>, TurnEnding> = {
  stopped: { status: 'stopped' },
  interrupted: INTERRUPTED_ENDING,
  refused: CREDENTIAL_ENDED_ENDING,
};

/** Its first 401 ends the turn: what comes after could only be refused, too. */
const stopOnUnauthorized =
  (client: ApiClient, stop: AbortController): ApiClient =>
  async (request) => {
    const answer = await client(request);
    if (answer.status === 401) stop.abort(new TurnEndedError('refused'));
    return answer;
  };

/**
 * Ends the turn where its credential, or its membership, has ended. A surface that does not answer says nothing about
 * that.
 */
async function stopIfCredentialEnded({ caller, client }: TurnActor, stop: AbortController): Promise<void> {
  const request = { surface: 'worker', method: 'GET', path: '/auth/me', signal: stop.signal } as const;
  const answer = await client(request).catch(() => null);
  const isOther = (answer?.body as { workspace_id?: unknown } | undefined)?.workspace_id !== caller.workspaceId;
  if (answer?.status === 403 || (answer?.status === 200 && isOther)) stop.abort(new TurnEndedError('refused'));
}

/** Descriptions and schemas are masked once for all steps of a turn, unless secrets change meanwhile. */
function createMaskedToolSets(tools: Map<string, OfferedTool>): (redactor: Redactor) => Promise<ToolSet> {
  let last: { redactor: Redactor; set: Promise<ToolSet> } | undefined;
  return (redactor) => {
    if (last?.redactor !== redactor) last = { redactor, set: buildToolSet(tools, redactor) };
    return last.set;
  };
}

async function buildToolSet(tools: Map<string, OfferedTool>, redactor: Redactor): Promise<ToolSet> {
  const { jsonSchema } = await import('ai');
  const described = [...tools.values()].map(({ description, inputSchema }) => ({ description, inputSchema }));
  const masked = (await maskStrings(redactor, described)) as typeof described;
  return Object.fromEntries(
    [...tools.keys()].map((name, at): [string, ToolSet[string]] => {
      const { description = '', inputSchema = {} } = masked[at] ?? {};
      return [name, { description, inputSchema: jsonSchema(inputSchema as Parameters<typeof jsonSchema>[0]) }];
    }),
  );
}
