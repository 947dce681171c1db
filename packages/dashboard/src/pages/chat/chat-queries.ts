import { unwrap } from '@gantry/sdk';
import { type QueryClient, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { isStatus, workerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { type Message, sendMessage } from './send-message';
import { type Begun, newThread, readAgain, type Thread, withDecision, withEarlier, withMessage } from './thread';

const LISTED = 30;
const READ = 20;

type WorkspaceId = string | undefined;

export const chatKeys = {
  list: (workspaceId: WorkspaceId) => ['conversations', workspaceId, 'list'] as const,
  one: (workspaceId: WorkspaceId, id: string) => ['conversations', workspaceId, 'one', id] as const,
};

/** Lists the member's own conversations, latest activity first. */
export function useConversations() {
  const workspaceId = useWorkspace()?.id;
  return useInfiniteQuery({
    queryKey: chatKeys.list(workspaceId),
    enabled: workspaceId !== undefined,
    initialPageParam: 0,
    queryFn: async ({ pageParam: offset }) => {
      const query = { limit: LISTED, offset };
      return unwrap((await workerApi()).GET('/api/conversations', { params: { query } }));
    },
    getNextPageParam: (last, pages) => (last.length === LISTED ? pages.length * LISTED : undefined),
  });
}

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
    queryFn: async () => readAgain(client.getQueryData<Thread>(key), await readPage(id, 0)),
  });
}

async function readPage(id: string, offset: number): Promise<Thread> {
  const params = { path: { conversation_id: id }, query: { limit: READ, offset } };
  const conversation = await unwrap((await workerApi()).GET('/api/conversations/{conversation_id}', { params }));
  return newThread(conversation, conversation.turns.length === READ);
}

/** Updates the cached conversation, if there is one. */
export const changeThread = (
  client: QueryClient,
  workspaceId: WorkspaceId,
  id: string,
  change: (thread: Thread) => Thread,
): Thread | undefined =>
  client.setQueryData<Thread>(chatKeys.one(workspaceId, id), (thread) => thread && change(thread));

/** Loads the page of messages before those that are shown. */
export function useEarlier(thread: Thread) {
  const workspaceId = useWorkspace()?.id;
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => readPage(thread.id, thread.turns.length),
    onSuccess: (page) =>
      changeThread(client, workspaceId, thread.id, (now) => withEarlier(now, page.turns, page.hasEarlier)),
  });
}

/** Sends a message, and adds it to its cached conversation, which may be new. */
export function useSend() {
  const workspaceId = useWorkspace()?.id;
  const client = useQueryClient();
  return useMutation({
    mutationFn: sendMessage,
    onSuccess: async (begun, { text: message, conversationId }: Message) => {
      const key = chatKeys.one(workspaceId, begun.conversationId);
      await client.cancelQueries({ queryKey: key });
      // Without an event id, later events cannot be told from earlier ones.
      if (begun.eventId === 0) client.removeQueries({ queryKey: key });
      else if (conversationId === undefined) client.setQueryData(key, begunWith(begun, message));
      else changeThread(client, workspaceId, conversationId, (thread) => withMessage(thread, { ...begun, message }));
      void client.invalidateQueries({ queryKey: chatKeys.list(workspaceId) });
    },
    onError: (error, { conversationId }) => {
      // The conversation has continued elsewhere, so it is refetched.
      if (conversationId === undefined || !isStatus(error, 409)) return;
      void client.invalidateQueries({ queryKey: chatKeys.one(workspaceId, conversationId) });
    },
  });
}

/** Builds a new conversation; the next fetch replaces its title by the server's. */
function begunWith(begun: Begun, message: string): Thread {
  const at = new Date().toISOString();
  const head = { id: begun.conversationId, title: message.replace(/\s+/g, ' ').trim(), status: 'running' as const };
  const thread = newThread({ ...head, created_at: at, updated_at: at, last_event_id: 0, turns: [] }, false);
  return withMessage(thread, { ...begun, message });
}

const pathOf = (id: string) => ({ params: { path: { conversation_id: id } } });

export function useStop(id: string) {
  const workspaceId = useWorkspace()?.id;
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => unwrap((await workerApi()).POST('/api/conversations/{conversation_id}/stop', pathOf(id))),
    // If the agent was only waiting, no stream reports its end.
    onSuccess: ({ status }) =>
      status !== 'running' && client.invalidateQueries({ queryKey: chatKeys.one(workspaceId, id) }),
  });
}

/** Resumes the last message, which was interrupted, and refetches the conversation, even if it has been resumed. */
export function useResume(id: string) {
  const workspaceId = useWorkspace()?.id;
  const client = useQueryClient();
  const read = () => client.invalidateQueries({ queryKey: chatKeys.one(workspaceId, id) });
  return useMutation({
    mutationFn: async () => unwrap((await workerApi()).POST('/api/conversations/{conversation_id}/resume', pathOf(id))),
    onSuccess: async () => {
      await read();
      void client.invalidateQueries({ queryKey: chatKeys.list(workspaceId) });
    },
    onError: (error) => {
      if (isStatus(error, 404, 409)) void read();
    },
  });
}

export function useDecideCall(id: string, callId: string) {
  const workspaceId = useWorkspace()?.id;
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (approve: boolean) =>
      unwrap(
        (await workerApi()).POST('/api/conversations/{conversation_id}/approvals/{call_id}', {
          params: { path: { conversation_id: id, call_id: callId } },
          body: { approve },
        }),
      ),
    onSuccess: ({ status }, approve) => {
      changeThread(client, workspaceId, id, (thread) => withDecision(thread, callId, approve, status));
      void client.invalidateQueries({ queryKey: chatKeys.list(workspaceId) });
    },
    onError: (error) => {
      if (isStatus(error, 404, 409)) void client.invalidateQueries({ queryKey: chatKeys.one(workspaceId, id) });
    },
  });
}

export function useRename(id: string) {
  const workspaceId = useWorkspace()?.id;
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (title: string) =>
      unwrap((await workerApi()).PATCH('/api/conversations/{conversation_id}', { ...pathOf(id), body: { title } })),
    onSuccess: ({ title }) => {
      changeThread(client, workspaceId, id, (thread) => ({ ...thread, title }));
      return client.invalidateQueries({ queryKey: chatKeys.list(workspaceId) });
    },
  });
}

export function useDelete(id: string) {
  const workspaceId = useWorkspace()?.id;
  const client = useQueryClient();
  return useMutation({
    mutationFn: async () => unwrap((await workerApi()).DELETE('/api/conversations/{conversation_id}', pathOf(id))),
    onSuccess: () => client.invalidateQueries({ queryKey: chatKeys.list(workspaceId) }),
  });
}

/** Suggests first messages that fit the contents of the workspace. */
export function useSuggestions() {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: ['suggestions', workspaceId],
    enabled: workspaceId !== undefined,
    queryFn: async () => unwrap((await workerApi()).GET('/api/chat/suggestions')),
    select: ({ suggestions }) => suggestions,
  });
}
