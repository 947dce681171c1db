import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, hasErrorStatus } from '../../shell/api';
import { useInvalidateQueries } from '../../shell/use-invalidate-queries';
import { useWorkspace } from '../../shell/use-me';
import { usePagedQuery } from '../../shell/use-paged-query';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { type MessageInput, sendMessage } from './send-message';
import {
  appendMessage,
  applyDecision,
  createThread,
  mergeRefetchedThread,
  prependEarlierTurns,
  type SentMessage,
  type Thread,
} from './thread';

const TURNS_PAGE_SIZE = 20;

type WorkspaceId = string | undefined;

export const chatKeys = {
  list: (workspaceId: WorkspaceId) => ['conversations', workspaceId, 'list'] as const,
  one: (workspaceId: WorkspaceId, id: string) => ['conversations', workspaceId, 'one', id] as const,
};

/** Lists the member's own conversations, latest activity first. */
export const useConversations = () =>
  usePagedQuery(chatKeys.list, (query) => api.worker.GET('/api/conversations', { params: { query } }), {
    pageSize: 30,
  });

const isRunning = (thread: Thread | undefined): boolean => thread?.status === 'running';

/** Loads one conversation. While the agent works, the stream updates it and it is not refetched. */
export function useThread(id: string) {
  const workspaceId = useWorkspace()?.id;
  const client = useQueryClient();
  const key = chatKeys.one(workspaceId, id);
  return useQuery({
    queryKey: key,
    enabled: workspaceId !== undefined,
    staleTime: ({ state }) => (isRunning(state.data as Thread | undefined) ? Number.POSITIVE_INFINITY : 0),
    queryFn: async () => mergeRefetchedThread(client.getQueryData<Thread>(key), await loadThreadPage(id, 0)),
  });
}

async function loadThreadPage(id: string, offset: number): Promise<Thread> {
  const params = { path: { conversation_id: id }, query: { limit: TURNS_PAGE_SIZE, offset } };
  const conversation = await api.worker.GET('/api/conversations/{conversation_id}', { params });
  return createThread(conversation, conversation.turns.length === TURNS_PAGE_SIZE);
}

/** Updates the cached conversation, if there is one. */
export const updateThread = (
  client: QueryClient,
  workspaceId: WorkspaceId,
  id: string,
  change: (thread: Thread) => Thread,
): Thread | undefined =>
  client.setQueryData<Thread>(chatKeys.one(workspaceId, id), (thread) => thread && change(thread));

/** Loads the page of messages before those that are shown. */
export function useLoadEarlierMessages(thread: Thread) {
  const workspaceId = useWorkspace()?.id;
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => loadThreadPage(thread.id, thread.turns.length),
    onSuccess: (page) =>
      updateThread(client, workspaceId, thread.id, (current) =>
        prependEarlierTurns(current, page.turns, page.hasEarlier),
      ),
  });
}

/** Sends a message, and adds it to its cached conversation, which may be new. */
export function useSendMessage() {
  const workspaceId = useWorkspace()?.id;
  const client = useQueryClient();
  return useMutation({
    mutationFn: sendMessage,
    onSuccess: async (sentMessage, { text: message, conversationId }: MessageInput) => {
      const key = chatKeys.one(workspaceId, sentMessage.conversationId);
      await client.cancelQueries({ queryKey: key });
      // Without an event id, later events cannot be told from earlier ones.
      if (sentMessage.eventId === 0) client.removeQueries({ queryKey: key });
      else if (conversationId === undefined) client.setQueryData(key, buildNewThread(sentMessage, message));
      else
        updateThread(client, workspaceId, conversationId, (thread) =>
          appendMessage(thread, { ...sentMessage, message }),
        );
      void client.invalidateQueries({ queryKey: chatKeys.list(workspaceId) });
    },
    onError: (error, { conversationId }) => {
      // The conversation has continued elsewhere, so it is refetched.
      if (conversationId === undefined || !hasErrorStatus(error, 409)) return;
      void client.invalidateQueries({ queryKey: chatKeys.one(workspaceId, conversationId) });
    },
  });
}

/** Builds a new conversation; the next fetch replaces its title by the server's. */
function buildNewThread(sentMessage: SentMessage, message: string): Thread {
  const at = new Date().toISOString();
  const head = {
    id: sentMessage.conversationId,
    title: message.replace(/\s+/g, ' ').trim(),
    status: 'running' as const,
  };
  const thread = createThread({ ...head, created_at: at, updated_at: at, last_event_id: 0, turns: [] }, false);
  return appendMessage(thread, { ...sentMessage, message });
}

const toPathParams = (id: string) => ({ params: { path: { conversation_id: id } } });

export function useStopConversation(id: string) {
  const invalidateThread = useInvalidateQueries((workspaceId) => chatKeys.one(workspaceId, id));
  return useMutation({
    mutationFn: () => api.worker.POST('/api/conversations/{conversation_id}/stop', toPathParams(id)),
    // If the agent was only waiting, no stream reports its end.
    onSuccess: ({ status }) => status !== 'running' && invalidateThread(),
  });
}

/** Resumes the last message, which was interrupted, and refetches the conversation, even if it has been resumed. */
export function useResumeConversation(id: string) {
  const invalidateThread = useInvalidateQueries((workspaceId) => chatKeys.one(workspaceId, id));
  const invalidateList = useInvalidateQueries(chatKeys.list);
  return useMutation({
    mutationFn: () => api.worker.POST('/api/conversations/{conversation_id}/resume', toPathParams(id)),
    onSuccess: async () => {
      await invalidateThread();
      void invalidateList();
    },
    onError: (error) => {
      if (hasErrorStatus(error, 404, 409)) void invalidateThread();
    },
  });
}

export function useDecideCall(id: string, callId: string) {
  const workspaceId = useWorkspace()?.id;
  const client = useQueryClient();
  return useMutation({
    mutationFn: (approve: boolean) =>
      api.worker.POST('/api/conversations/{conversation_id}/approvals/{call_id}', {
        params: { path: { conversation_id: id, call_id: callId } },
        body: { approve },
      }),
    onSuccess: ({ status }, approve) => {
      updateThread(client, workspaceId, id, (thread) => applyDecision(thread, callId, approve, status));
      void client.invalidateQueries({ queryKey: chatKeys.list(workspaceId) });
    },
    onError: (error) => {
      if (hasErrorStatus(error, 404, 409)) void client.invalidateQueries({ queryKey: chatKeys.one(workspaceId, id) });
    },
  });
}

export function useRenameConversation(id: string) {
  const workspaceId = useWorkspace()?.id;
  const client = useQueryClient();
  return useMutation({
    mutationFn: (title: string) =>
      api.worker.PATCH('/api/conversations/{conversation_id}', { ...toPathParams(id), body: { title } }),
    onSuccess: ({ title }) => {
      updateThread(client, workspaceId, id, (thread) => ({ ...thread, title }));
      return client.invalidateQueries({ queryKey: chatKeys.list(workspaceId) });
    },
  });
}

export function useDeleteConversation(id: string) {
  return useMutation({
    mutationFn: () => api.worker.DELETE('/api/conversations/{conversation_id}', toPathParams(id)),
    onSuccess: useInvalidateQueries(chatKeys.list),
  });
}

/** Suggests first messages that fit the contents of the workspace. */
export function useSuggestions() {
  return useWorkspaceQuery(
    (workspaceId) => ['suggestions', workspaceId],
    () => api.worker.GET('/api/chat/suggestions'),
    { select: ({ suggestions }) => suggestions },
  );
}
