import { authorizedFetch } from './api';
import { session } from './session';

const buildStreamHeaders = (lastEventId: string | null) =>
  new Headers({ Accept: 'text/event-stream', ...(lastEventId && { 'Last-Event-ID': lastEventId }) });

/** Connects to an event stream with the session, or as a visitor. @param workspaceId the current one by default */
export async function openEventStream(
  url: string,
  lastEventId: string | null,
  signal: AbortSignal,
  workspaceId?: string,
): Promise<Response> {
  const headers = buildStreamHeaders(lastEventId);
  const token = await session.token();
  if (token) headers.set('Authorization', `Bearer ${token}`);
  if (workspaceId) headers.set('x-svc-workspace', workspaceId);
  return authorizedFetch(new Request(url, { headers, signal }));
}

/** Connects without a credential: the link alone authorizes. */
export const openEventStreamAsVisitor = (
  url: string,
  lastEventId: string | null,
  signal: AbortSignal,
): Promise<Response> => fetch(url, { headers: buildStreamHeaders(lastEventId), signal, credentials: 'omit' });
