import { notFound } from '@gantry/errors';
import { buildPageHeaders, type Call, created, noContent, type Operations, ok } from '@gantry/http';
import type { Run } from '@gantry/run-engine';
import { toOrigin } from '../runs/requested-run';
import { getVisibleWorker } from '../workers/worker-repository';
import { conversationSummaryToApi, conversationToApi, turnToApi } from './worker-conversation';
import type { WorkerConversationDeps } from './worker-conversation-deps';
import { findTurnOfRun, getConversation, listConversations, listTurns } from './worker-conversation-repository';
import { createConversation, removeConversation, sendMessage } from './worker-conversation-service';

type WorkerRequest = Pick<Call<{ worker_id: string }>, 'caller' | 'path'>;
type ConversationRequest = Pick<Call<{ worker_id: string; conversation_id: string }>, 'caller' | 'path'>;

const FIRST_PAGE = { limit: 20, offset: 0 };

export function createWorkerConversationOperations(deps: WorkerConversationDeps): Operations<'worker'> {
  const { prisma, pool, engine } = deps;

  const getRequestedWorker = ({ caller, path }: WorkerRequest) => getVisibleWorker(prisma, caller, path.worker_id);

  const toWriter = async (call: WorkerRequest & Pick<Call, 'markCreated' | 'req'>) => ({
    worker: await getRequestedWorker(call),
    origin: toOrigin(call.req),
    markCreated: call.markCreated,
  });

  const waitForRun = (run: Run, waitSeconds = 0) => engine.waitForEnd(run, waitSeconds * 1_000);

  async function loadConversationPage(call: WorkerRequest, id: string, page = FIRST_PAGE) {
    const worker = await getRequestedWorker(call);
    const conversation = await getConversation(pool, worker, id);
    const { turns, total } = await listTurns(pool, worker.workspaceId, id, page);
    return { body: conversationToApi(call.caller, worker, conversation, turns), total };
  }

  async function getTurn(call: ConversationRequest, runId: string) {
    const worker = await getRequestedWorker(call);
    await getConversation(pool, worker, call.path.conversation_id);
    const turn = await findTurnOfRun(pool, worker, runId);
    if (!turn) throw notFound('message', runId);
    return turn;
  }

  return {
    listWorkerConversations: async (call) => {
      const worker = await getRequestedWorker(call);
      const { conversations, total } = await listConversations(pool, worker, call.query);
      const items = conversations.map((one) => conversationSummaryToApi(call.caller, worker, one));
      return ok(items, buildPageHeaders(call.req, call.query, total));
    },
    createWorkerConversation: {
      create: async (call) => {
        const { message, inputs, wait } = call.body ?? {};
        const { id, run } = await createConversation(deps, await toWriter(call), { message, inputs });
        if (run) await waitForRun(run, wait);
        return created((await loadConversationPage(call, id)).body);
      },
      assertVisible: loadConversationPage,
      answer: async (call, id) => created((await loadConversationPage(call, id)).body),
    },
    getWorkerConversation: async (call) => {
      const { body, total } = await loadConversationPage(call, call.path.conversation_id, call.query);
      return ok(body, buildPageHeaders(call.req, call.query, total));
    },
    deleteWorkerConversation: async (call) => {
      await removeConversation(deps, call, await getRequestedWorker(call), call.path.conversation_id);
      return noContent();
    },
    sendWorkerMessage: {
      create: async (call) => {
        const { message, wait } = call.body;
        const run = await sendMessage(deps, await toWriter(call), { id: call.path.conversation_id, message });
        await waitForRun(run, wait);
        return created(turnToApi(await getTurn(call, run.id)));
      },
      assertVisible: getTurn,
      answer: async (call, runId) => {
        await waitForRun(await engine.get(call.caller.workspaceId, runId), call.body.wait);
        return created(turnToApi(await getTurn(call, runId)));
      },
    },
  };
}
