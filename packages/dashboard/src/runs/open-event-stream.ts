import { authorizedFetch } from '../shell/api';
import { session } from '../shell/session';

/** Connects to an event stream with the session, or as a visitor. */
export async function openEventStream(url: string, lastEventId: string | null, signal: AbortSignal): Promise<Response> {
  const headers = new Headers({ Accept: 'text/event-stream' });
  const token = await session.token();
  if (token) headers.set('Authorization', `Bearer ${token}`);
  if (lastEventId) headers.set('Last-Event-ID', lastEventId);
  return authorizedFetch(new Request(url, { headers, signal }));
}

/** Connects without a credential: the link alone authorizes. */
export function openEventStreamAsVisitor(
  url: string,
  lastEventId: string | null,
  signal: AbortSignal,
): Promise<Response> {
  const headers = new Headers({ Accept: 'text/event-stream' });
  if (lastEventId) headers.set('Last-Event-ID', lastEventId);
  return fetch(url, { headers, signal, credentials: 'omit' });
}
