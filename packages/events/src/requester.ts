/**
 * Sends requests whose replies share one subscription, and messages that JetStream confirms. nats.js can do both, but
 * ends every request by creating an error and rejecting with it: 1 to 2 ms of a waited run (median of 600 pairs, two
 * cores).
 */
import {
  type ApiError,
  createInbox,
  ErrorCode,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  NatsError,
  type PubAck,
} from 'nats';
import { watchConnection } from './connection-watch';

export interface Requester {
  /**
   * @param timeoutMs milliseconds
   * @throws NatsError: no responders (code 503), no reply in time, or not connected
   */
  request(subject: string, payload: Uint8Array, timeoutMs: number): Promise<Msg>;
  /**
   * Resolves when the message is stored; JetStream stores one `id` once.
   * @throws NatsError like a request's, and as soon as the connection is lost; with `api_error` where the stream
   * refuses the message
   */
  store(subject: string, payload: Uint8Array, id: string, timeoutMs: number): Promise<PubAck>;
}

interface PendingRequest {
  resolve(reply: Msg): void;
  reject(error: NatsError): void;
  /** The caller may send it again: JetStream stores its id once. */
  isRepeatable: boolean;
}

/** Status of the server's reply when a subject has no responders. */
const NO_RESPONDERS = 503;

export function createRequester(nc: NatsConnection, inboxPrefix: string): Requester {
  const inbox = createInbox(inboxPrefix);
  const pendingRequests = new Map<string, PendingRequest>();
  let number = 0;

  nc.subscribe(`${inbox}.*`, {
    callback: (refusal, message) => {
      if (refusal) return;
      const { resolve, reject } = pendingRequests.get(message.subject) ?? {};
      if (message.data.length || message.headers?.code !== NO_RESPONDERS) resolve?.(message);
      else reject?.(NatsError.errorForCode(ErrorCode.NoResponders));
    },
  });
  void nc.closed().then(() => {
    for (const { reject } of pendingRequests.values()) reject(NatsError.errorForCode(ErrorCode.ConnectionClosed));
  });
  watchConnection(nc, (isUp) => {
    if (isUp) return;
    for (const { isRepeatable: isIdempotent, reject } of pendingRequests.values()) {
      if (isIdempotent) reject(NatsError.errorForCode(ErrorCode.Disconnect));
    }
  });

  async function request(subject: string, payload: Uint8Array, timeoutMs: number, messageHeaders?: MsgHdrs) {
    const reply = `${inbox}.${number++}`;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Msg>((resolve, reject) => {
        pendingRequests.set(reply, { resolve, reject, isRepeatable: messageHeaders !== undefined });
        timer = setTimeout(() => reject(NatsError.errorForCode(ErrorCode.Timeout)), timeoutMs);
        nc.publish(subject, payload, { reply, headers: messageHeaders });
      });
    } finally {
      clearTimeout(timer);
      pendingRequests.delete(reply);
    }
  }

  async function publishToStream(subject: string, payload: Uint8Array, id: string, timeoutMs: number) {
    const messageHeaders = headers();
    messageHeaders.set('Nats-Msg-Id', id);
    const { data } = await request(subject, payload, timeoutMs, messageHeaders);
    const ack: PubAck & { error?: ApiError } = JSON.parse(Buffer.from(data).toString());
    if (!ack.error) return ack;
    const refusal = new NatsError(ack.error.description, String(ack.error.code));
    refusal.api_error = ack.error;
    throw refusal;
  }

  return { request, store: publishToStream };
}
