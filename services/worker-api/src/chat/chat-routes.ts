import { notFound } from '@gantry/errors';
import { buildPageHeaders, type Call, createApiClient, noContent, type Operations, ok } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { createAgent, type TurnActor } from './agent';
import type { ChatDeps } from './chat-deps';
import { type ChatService, decideCall, resumeInterruptedTurn, startTurn, stopTurn } from './chat-service';
import { conversationSummaryToApi, conversationToApi, turnResponseToApi } from './conversation';
import {
  deleteConversation,
  getConversation,
  listConversations,
  lockConversation,
  toOwner,
  updateTitle,
} from './conversation-repository';
import { interruptLostTurns } from './end-turn';
import { createSignals } from './signals';
import { streamEvents, waitForTurn } from './stream-turn';
import { listSuggestions } from './suggestions';
import { findLastTurn, findTurn, listParts, listTurns } from './turn-repository';

const SUGGESTIONS_TIMEOUT_MS = 10_000;

/** Creates the operations of the chat, and the function that drains this replica's agent. */
export function createChat(deps: ChatDeps) {
  const signals = createSignals();
  const service: ChatService = { deps, signals, agent: createAgent(deps, signals) };
  return { operations: createChatOperations(service), drain: service.agent.drain };
}

function createChatOperations(service: ChatService): Operations<'worker'> {
  const { deps } = service;
  const { pool } = deps;

  const buildTurnActor = (call: Pick<Call, 'caller' | 'req'>): TurnActor => ({
    caller: call.caller,
    client: createApiClient(deps.surfaceUrls, call, { agent: true }),
  });

  const getConversationResponse = async ({ caller }: Pick<Call, 'caller'>, id: string) =>
    ok(conversationSummaryToApi(await getConversation(pool, toOwner(caller), id)));

  const getTurn = async ({ caller }: Pick<Call, 'caller'>, id: string) => {
    const turn = await findTurn(pool, id);
    if (!turn) throw notFound('message', id);
    await getConversation(pool, toOwner(caller), turn.conversationId);
    return turn;
  };

  const waitForTurnResponse = async ({ res }: Pick<Call, 'res'>, turnId: string) =>
    ok(turnResponseToApi(await waitForTurn(service, res, turnId), await listParts(pool, [turnId])));

  return {
    chat: {
      create: async (call) => {
        const { caller, markCreated, body, res } = call;
        const turn = await startTurn(service, { caller, markCreated, turnActor: buildTurnActor(call) }, body);
        if (body.stream === false) return waitForTurnResponse(call, turn.id);
        await streamEvents(service, res, turn.conversationId, { turnId: turn.id });
      },
      assertVisible: getTurn,
      answer: waitForTurnResponse,
    },
    suggestMessages: async (call) =>
      ok({
        suggestions: await listSuggestions(buildTurnActor(call).client, AbortSignal.timeout(SUGGESTIONS_TIMEOUT_MS)),
      }),
    listConversations: async ({ caller, query, req }) => {
      const { rows, total } = await listConversations(pool, toOwner(caller), query);
      return ok(rows.map(conversationSummaryToApi), buildPageHeaders(req, query, total));
    },
    getConversation: async ({ caller, path, query, req }) => {
      const owner = toOwner(caller);
      await getConversation(pool, owner, path.conversation_id);
      await interruptLostTurns(pool, path.conversation_id);
      // A consistent snapshot: no event may be appended in between that the parts do not show.
      return transaction(pool, async (tx) => {
        await lockConversation(tx, owner, path.conversation_id);
        const row = await getConversation(tx, owner, path.conversation_id);
        const { turns, total } = await listTurns(tx, row.id, query);
        const parts = await listParts(
          tx,
          turns.map(({ id }) => id),
        );
        return ok(conversationToApi(row, turns, parts), buildPageHeaders(req, query, total));
      });
    },
    renameConversation: async (call) => {
      const { caller, path, body } = call;
      await getConversation(pool, toOwner(caller), path.conversation_id);
      await updateTitle(pool, toOwner(caller), path.conversation_id, body.title.trim());
      return getConversationResponse(call, path.conversation_id);
    },
    deleteConversation: async ({ caller, path }) => {
      const owner = toOwner(caller);
      await getConversation(pool, owner, path.conversation_id);
      const last = await findLastTurn(pool, path.conversation_id);
      await deleteConversation(pool, owner, path.conversation_id);
      if (last) service.agent.stop(last.id);
      return noContent();
    },
    streamConversation: async ({ caller, path, req, res }) => {
      const { id } = await getConversation(pool, toOwner(caller), path.conversation_id);
      const last = await findLastTurn(pool, id);
      const [after] = /^\d{1,9}$/.exec(req.get('Last-Event-ID') ?? '') ?? [];
      const from = after === undefined ? { turnId: last?.id ?? '' } : { after: Number(after) };
      if (req.method === 'HEAD') return noContent();
      await streamEvents(service, res, id, from);
    },
    stopConversation: async (call) => {
      await stopTurn(service, call.caller, call.path.conversation_id);
      return getConversationResponse(call, call.path.conversation_id);
    },
    resumeConversation: async (call) => {
      const { conversation_id: id } = call.path;
      await resumeInterruptedTurn(service, { caller: call.caller, turnActor: buildTurnActor(call) }, id);
      return getConversationResponse(call, id);
    },
    decideConversationCall: async (call) => {
      const { conversation_id: conversationId, call_id: callId } = call.path;
      await decideCall(
        service,
        { caller: call.caller, turnActor: buildTurnActor(call) },
        { conversationId, callId, approve: call.body.approve },
      );
      return getConversationResponse(call, conversationId);
    },
  };
}
