/** Streamable HTTP: a request of Express for the handler of the protocol, and its answer or stream back. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { forbidden } from '@gantry/errors';
import type { AuthInfo, McpHttpHandler } from '@modelcontextprotocol/server';
import type { Request as HttpRequest, Response as HttpResponse } from 'express';

export interface McpAddresses {
  /** The public address of the worker surface. */
  baseUrl: string;
  /** Addresses of all surfaces, whose pages may send requests. */
  publicUrls: string[];
}

interface HttpExchange {
  req: HttpRequest;
  res: HttpResponse;
  /** The message, which was read already. */
  body: unknown;
  /** By which tools call the API, instead of what came. Null: what came. */
  bearer: string | null;
  authInfo: AuthInfo;
}

/** @returns what ends with the answer. It throws AppError 403 for a page of another origin */
export function createMcpTransport(mcp: McpHttpHandler, { baseUrl, publicUrls }: McpAddresses) {
  const hosts = new Set(publicUrls.map((url) => new URL(url).hostname));
  return async ({ req, res, body, bearer, authInfo }: HttpExchange): Promise<void> => {
    requireAllowedOrigin(req.headers.origin, hosts);
    const cut = new AbortController();
    res.once('close', () => cut.abort());
    const asked = new Request(new URL(req.originalUrl, baseUrl), {
      method: 'POST',
      headers: setBearer(toHeaders(req.headers, req.ip), bearer),
      body: JSON.stringify(body),
      signal: cut.signal,
    });
    const answer = await mcp.fetch(asked, { parsedBody: body, authInfo });
    res.status(answer.status);
    answer.headers.forEach((value, name) => void res.setHeader(name, value));
    if (!answer.body) return void res.end();
    // The caller may leave before the end.
    await pipeline(Readable.fromWeb(answer.body as never), res).catch(() => undefined);
  };
}

/** Without cookies: a page in a browser is no agent. */
function toHeaders(headers: NodeJS.Dict<string | string[]>, ip: string | undefined): Headers {
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !['cookie', 'content-length', 'transfer-encoding', 'connection'].includes(name)) {
      kept.set(name, String(value));
    }
  }
  if (ip) kept.set('x-forwarded-for', ip);
  return kept;
}

function setBearer(headers: Headers, bearer: string | null): Headers {
  if (bearer === null) return headers;
  headers.delete('x-svc-token');
  headers.set('authorization', `Bearer ${bearer}`);
  return headers;
}

/**
 * The protocol asks servers to check it: a page whose name has come to mean this machine (DNS rebinding) says who it
 * is. Agents that are no page send none.
 * @throws AppError 403
 */
function requireAllowedOrigin(origin: string | undefined, hosts: Set<string>): void {
  if (origin === undefined || (URL.canParse(origin) && hosts.has(new URL(origin).hostname))) return;
  throw forbidden('foreign_origin', 'a page from another origin cannot use this endpoint');
}
