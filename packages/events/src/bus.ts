/** The connection to NATS, and JSON over it. */
import { isIP } from 'node:net';
import {
  type Authenticator,
  type ConnectionOptions,
  connect,
  type JetStreamClient,
  type Msg,
  type NatsConnection,
  nuid,
  type Subscription,
} from 'nats';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { Service } from './catalogue';
import { buildReplySubject, getInboxPrefix } from './inboxes';
import type { NatsConnectionSettings } from './nats-connection-settings';
import { decodeClaims, parseCredentials } from './nats-jwt';
import { createRequester, type Requester } from './requester';

export interface Bus extends Requester {
  nc: NatsConnection;
  js: JetStreamClient;
  /** The name of this connection in subjects. */
  user: string;
}

/** Publishes a message that may be lost: it is not sent while the process closes its connection. */
export function publishIfOpen({ nc }: Pick<Bus, 'nc'>, subject: string, payload: Uint8Array): void {
  if (!nc.isClosed() && !nc.isDraining()) nc.publish(subject, payload);
}

/** The user name on a server without authentication. */
const ANONYMOUS_USER = 'anybody';

/** A deleted Pod's address answers no attempt: by default the client would wait 20 s before the next one. */
const CONNECT_MS = 2_000;

/** Retries forever, including the first connection: a service may start before NATS. */
export async function connectBus(
  options: NatsConnectionSettings & {
    name: string;
    /** The name to use on a server without users. */
    anonymous?: string;
    log: Logger;
  },
): Promise<Bus> {
  const { username } = new URL(options.url);
  const user = options.creds
    ? decodeClaims(options.creds).name
    : decodeURIComponent(username) || options.anonymous || ANONYMOUS_USER;
  const inboxPrefix = getInboxPrefix(user);
  const nc = await connect({
    ...buildConnectionOptions(options),
    name: options.name,
    // Only this user may subscribe to its inbox: see permissions.ts.
    inboxPrefix,
    timeout: CONNECT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    waitOnFirstConnect: true,
    pingInterval: 5_000,
    maxPingOut: 2,
    noAsyncTraces: true,
  });
  void logStatus(nc, options.log);
  return { nc, js: nc.jetstream(), user, ...createRequester(nc, inboxPrefix) };
}

/** Requires TLS with a CA or `tls:`; without them it is still used if the server requires it. */
export function buildConnectionOptions({ url, creds, ca }: NatsConnectionSettings): ConnectionOptions {
  const { protocol, username, password, host, hostname } = new URL(url);
  // The client would otherwise accept a certificate for "localhost" from a server that is addressed by number.
  const numbered = isIP(host.startsWith('[') ? hostname.slice(1, -1) : hostname) && { host: hostname };
  return {
    servers: host,
    ...buildCredentialOptions(creds, username, password),
    ...((ca || protocol === 'tls:') && { tls: { ...(ca && { ca }), ...numbered } }),
  };
}

function buildCredentialOptions(
  creds: string | undefined,
  username: string,
  password: string,
): Partial<ConnectionOptions> {
  if (creds) return { authenticator: createAuthenticator(creds) };
  return username ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : {};
}

function createAuthenticator(creds: string): Authenticator {
  const { jwt, key } = parseCredentials(creds);
  return (nonce = '') => ({ jwt, nkey: key.publicKey, sig: key.sign(Buffer.from(nonce)).toString('base64') });
}

async function logStatus(nc: NatsConnection, log: Logger): Promise<void> {
  for await (const status of nc.status()) {
    if (status.type === 'disconnect' || status.type === 'reconnect' || status.type === 'error') {
      log.warn({ nats: status.type, data: status.data }, 'nats connection');
    }
  }
}

export const encode = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

/** @throws SyntaxError or ZodError for data that does not match the schema. */
export function decode<T extends z.ZodType>(schema: T, data: Uint8Array): z.infer<T> {
  return schema.parse(JSON.parse(Buffer.from(data).toString()));
}

/**
 * Sends one request and decodes its reply.
 * @param responder the service that the request is for: the server lets no other service reply. Absent if another
 *   account replies, since the server itself routes such replies
 * @throws NatsError: no responders (code 503), no reply in time, or not connected
 */
export async function request<T extends z.ZodType>(
  bus: Bus,
  subject: string,
  payload: unknown,
  reply: T,
  timeoutMs: number,
  responder?: Service,
): Promise<z.infer<T>> {
  const message = responder
    ? await bus.nc.request(subject, encode(payload), {
        timeout: timeoutMs,
        noMux: true,
        reply: buildReplySubject(responder, bus.user, nuid.next()),
      })
    : await bus.request(subject, encode(payload), timeoutMs);
  return decode(reply, message.data);
}

/** Inboxes of users, of services for each other, and of the server for requests from another account. */
const REPLY_SUBJECT = /^(_INBOX|answer|_R_)\./;

/**
 * Handles each message of a subject; one that does not match the schema is logged and dropped.
 *
 * The requester chooses the reply subject, and this connection may publish where the requester may not: a request whose
 * reply subject is not an inbox is an attempt to exploit that, and is dropped too.
 */
export function listen<T extends z.ZodType>(
  bus: Bus,
  subject: string,
  schema: T,
  handle: (payload: z.infer<T>, message: Msg) => unknown,
  options: { queue?: string; log: Logger },
): Subscription {
  return listenRaw(bus, subject, (message) => handle(decode(schema, message.data), message), options);
}

/** Like listen, for payloads other than plain JSON. `handle` throws or rejects to have a message logged and dropped. */
export function listenRaw(
  bus: Bus,
  subject: string,
  handle: (message: Msg) => unknown,
  options: { queue?: string; log: Logger },
): Subscription {
  const onError = (err: unknown) => options.log.error({ err, subject }, 'message not handled');
  return bus.nc.subscribe(subject, {
    ...(options.queue && { queue: options.queue }),
    callback: (error, message) => {
      if (error) return onError(error);
      if (message.reply && !REPLY_SUBJECT.test(message.reply)) {
        return options.log.warn(
          { subject: message.subject, reply: message.reply },
          'request dropped: its reply subject is not an inbox',
        );
      }
      try {
        Promise.resolve(handle(message)).catch(onError);
      } catch (err) {
        onError(err);
      }
    },
  });
}
