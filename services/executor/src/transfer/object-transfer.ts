/**
 * Transfers data from and to the object store, by the presigned URLs of a job. The executor has no other credential.
 */
import { createHash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { waitForDrain } from './wait-for-drain';

const IDLE_MS = 15_000;
/**
 * Limit of all tries of a transfer while the store gives no answer or a 5xx: longer than a service takes to restart.
 * The run keeps its lease meanwhile.
 */
const OUTAGE_MS_MAX = 60_000;
const RETRY_MS = 300;
const RETRY_MS_MAX = 1_000;

const agents = {
  'http:': { request: http.request, agent: new http.Agent({ keepAlive: true, maxSockets: 32 }) },
  'https:': { request: https.request, agent: new https.Agent({ keepAlive: true, maxSockets: 32 }) },
};

export class TransferError extends Error {
  constructor(
    message: string,
    readonly retryable: boolean,
  ) {
    super(message);
  }
}

/** Removes the signature from a URL, for errors. */
const removeSignature = (url: string) => {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
};

function openRequest(method: string, url: string, headers: http.OutgoingHttpHeaders): http.ClientRequest {
  const { protocol } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TransferError(`not an HTTP URL: ${removeSignature(url)}`, false);
  const { request, agent } = agents[protocol];
  const sent = request(url, { method, headers, agent });
  sent.setTimeout(IDLE_MS, () => sent.destroy(new Error(`no response within ${IDLE_MS / 1000} s`)));
  return sent;
}

function waitForResponse(request: http.ClientRequest, url: string): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('error', (err) => reject(new TransferError(`${removeSignature(url)}: ${err.message}`, true)));
    request.once('response', (response) => {
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) return resolve(response);
      response.resume();
      reject(new TransferError(`${removeSignature(url)} answered ${status}`, status >= 500 || status === 429));
    });
  });
}

/** @throws TransferError. */
export async function getStream(url: string): Promise<Readable> {
  return retry(async () => {
    const sent = openRequest('GET', url, {});
    sent.end();
    return waitForResponse(sent, url);
  });
}

/** @throws TransferError, also if the body exceeds `bytesMax`. */
export async function getBytes(url: string, bytesMax: number, outageMsMax?: number): Promise<Buffer> {
  return retry(async () => {
    const sent = openRequest('GET', url, {});
    sent.end();
    const response = await waitForResponse(sent, url);
    const parts: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of response) {
        size += chunk.length;
        if (size > bytesMax) throw new TransferError(`${removeSignature(url)} is larger than ${bytesMax} bytes`, false);
        parts.push(chunk);
      }
    } catch (err) {
      response.destroy();
      throw err instanceof TransferError
        ? err
        : new TransferError(`${removeSignature(url)}: ${(err as Error).message}`, true);
    }
    return Buffer.concat(parts);
  }, outageMsMax);
}

export async function putBytes(url: string, contentType: string, body: Buffer): Promise<void> {
  return retry(async () => {
    const sent = openRequest('PUT', url, { 'content-type': contentType, 'content-length': body.length });
    sent.end(body);
    (await waitForResponse(sent, url)).resume();
  });
}

/**
 * Starts an upload. A streamed body cannot be sent a second time, so only the connection is retried: the store may be
 * starting. @throws TransferError if it cannot be reached
 */
export async function startUpload(url: string, contentType: string, size: number) {
  const { sent, answer: response } = await retry(async () => {
    const sent = openRequest('PUT', url, { 'content-type': contentType, 'content-length': size });
    const response = waitForResponse(sent, url);
    response.catch(() => {});
    await Promise.race([waitForConnect(sent), response]);
    return { sent, answer: response };
  });
  const hash = createHash('sha256');
  return {
    /** Returns a promise if the store applies backpressure. */
    write(piece: Buffer): Promise<void> | void {
      hash.update(piece);
      if (sent.destroyed || sent.write(piece)) return;
      return waitForDrain(sent);
    },
    /** Resolves when the store has received everything. */
    async end() {
      sent.end();
      (await response).resume();
    },
    abort: () => sent.destroy(),
    /** Returns the SHA-256 of what was written, in hexadecimal; once. */
    digest: () => hash.digest('hex'),
  };
}

function waitForConnect(sent: http.ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    sent.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', resolve);
      else resolve();
    });
  });
}

async function retry<T>(attempt: () => Promise<T>, outageMsMax = OUTAGE_MS_MAX): Promise<T> {
  const givenUpAt = performance.now() + outageMsMax;
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (err) {
      if (!(err instanceof TransferError) || !err.retryable || performance.now() > givenUpAt) throw err;
      // An executor that stops waits for no transfer.
      await delay(Math.min(RETRY_MS * tries, RETRY_MS_MAX), undefined, { ref: false });
    }
  }
}
