import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { api, type WorkerConversation } from '../../shell/api';
import { useInvalidateQueries } from '../../shell/use-invalidate-queries';
import { useWorkspace } from '../../shell/use-me';
import { usePagedQuery } from '../../shell/use-paged-query';

const TURNS_PAGE_SIZE = 20;

/** Query keys under the prefix of runs, because a change of a run changes its conversation. */
const conversationKeys = {
  list: (workspaceId: string | undefined, workerId: string) =>
    ['runs', workspaceId, 'conversations', workerId] as const,
  one: (workspaceId: string | undefined, workerId: string, id: string) =>
    ['runs', workspaceId, 'conversations', workerId, id] as const,
};

/** Lists the conversations, latest message first. */
export function useConversations(workerId: string) {
  const path = { worker_id: workerId };
  return usePagedQuery(
    (workspaceId) => conversationKeys.list(workspaceId, workerId),
    (query) => api.worker.GET('/api/workers/{worker_id}/conversations', { params: { path, query } }),
    { pageSize: 30 },
  );
}

/** Loads pages of a conversation, counted from its last message. */
export function useConversation(workerId: string, id: string) {
  const workspaceId = useWorkspace()?.id;
  return useInfiniteQuery({
    queryKey: conversationKeys.one(workspaceId, workerId, id),
    enabled: workspaceId !== undefined,
    initialPageParam: 0,
    queryFn: async ({ pageParam: offset }): Promise<WorkerConversation> => {
      const params = { path: { worker_id: workerId, conversation_id: id }, query: { limit: TURNS_PAGE_SIZE, offset } };
      return api.worker.GET('/api/workers/{worker_id}/conversations/{conversation_id}', { params });
    },
    getNextPageParam: (last, pages) =>
      last.turns.length === TURNS_PAGE_SIZE ? pages.length * TURNS_PAGE_SIZE : undefined,
  });
}

interface MessageInput {
  text: string;
  /** The same message is accepted once, however often it is sent with this key. */
  key: string;
}

export function useStartConversation(workerId: string) {
  const invalidate = useInvalidateConversations(workerId);
  return useMutation({
    mutationFn: async ({ text, key, inputs }: MessageInput & { inputs: Record<string, unknown> }) => {
      const params = { path: { worker_id: workerId }, header: { 'Idempotency-Key': key } };
      const body = { message: text, inputs };
      return api.worker.POST('/api/workers/{worker_id}/conversations', { params, body });
    },
    onSuccess: invalidate,
  });
}

export function useSendMessage(workerId: string, id: string) {
  const invalidate = useInvalidateConversations(workerId);
  return useMutation({
    mutationFn: ({ text, key }: MessageInput) =>
      api.worker.POST('/api/workers/{worker_id}/conversations/{conversation_id}/messages', {
        params: { path: { worker_id: workerId, conversation_id: id }, header: { 'Idempotency-Key': key } },
        body: { message: text },
      }),
    // Also on an error, since another member may have written first.
    onSettled: invalidate,
  });
}

export function useDeleteConversation(workerId: string, id: string) {
  const invalidate = useInvalidateConversations(workerId);
  return useMutation({
    mutationFn: () =>
      api.worker.DELETE('/api/workers/{worker_id}/conversations/{conversation_id}', {
        params: { path: { worker_id: workerId, conversation_id: id } },
      }),
    onSuccess: invalidate,
  });
}

const useInvalidateConversations = (workerId: string) =>
  useInvalidateQueries((workspaceId) => conversationKeys.list(workspaceId, workerId));
