/** The connection to NATS, and JSON over it. */
import { connect, type JetStreamClient, type Msg, type NatsConnection, type Subscription } from 'nats';
import type { Logger } from 'pino';
import type { z } from 'zod';

export interface Bus {
  nc: NatsConnection;
  js: JetStreamClient;
}

/** Retries for ever, also the first time: a service that starts before NATS is late, not broken. */
export async function connectBus(options: { url: string; name: string; log: Logger }): Promise<Bus> {
  const { username, password, host } = new URL(options.url);
  const nc = await connect({
    servers: host,
    name: options.name,
    // Replies come where this user alone may listen: see permissions.ts.
    inboxPrefix: `_INBOX.${username || 'anybody'}`,
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    waitOnFirstConnect: true,
    pingInterval: 5_000,
    maxPingOut: 2,
    noAsyncTraces: true,
  });
  void logStatus(nc, options.log);
  return { nc, js: nc.jetstream() };
}

async function logStatus(nc: NatsConnection, log: Logger): Promise<void> {
  for await (const status of nc.status()) {
    if (status.type === 'disconnect' || status.type === 'reconnect' || status.type === 'error') {
      log.warn({ nats: status.type, data: status.data }, 'nats connection');
    }
  }
}

export const encode = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

/** @throws SyntaxError or ZodError for anything that is not what the schema says. */
export function decode<T extends z.ZodType>(schema: T, data: Uint8Array): z.infer<T> {
  return schema.parse(JSON.parse(Buffer.from(data).toString()));
}

/** One question, one answer. @throws NatsError: nobody there (code 503), no answer in time, or not connected. */
export async function request<T extends z.ZodType>(
  bus: Bus,
  subject: string,
  payload: unknown,
  reply: T,
  timeoutMs: number,
): Promise<z.infer<T>> {
  const message = await bus.nc.request(subject, encode(payload), { timeout: timeoutMs });
  return decode(reply, message.data);
}

/** Handles each message of a subject; one that is not what the schema says is logged and dropped. */
export function listen<T extends z.ZodType>(
  bus: Bus,
  subject: string,
  schema: T,
  handle: (payload: z.infer<T>, message: Msg) => unknown,
  options: { queue?: string; log: Logger },
): Subscription {
  const onError = (err: unknown) => options.log.error({ err, subject }, 'message not handled');
  return bus.nc.subscribe(subject, {
    ...(options.queue && { queue: options.queue }),
    callback: (error, message) => {
      if (error) return onError(error);
      try {
        Promise.resolve(handle(decode(schema, message.data), message)).catch(onError);
      } catch (err) {
        onError(err);
      }
    },
  });
}
