import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { forbidden, type Operations, type Principal } from '@gantry/http';
import { authInfoOf, createMcp, type McpOptions } from './mcp-server';

export interface McpDeps extends McpOptions {
  /** The public address of the worker surface. */
  baseUrl: string;
  /** Of all surfaces: pages of their hosts may ask. */
  publicUrls: string[];
  /** The Bearer by which an OAuth client's tools call the API: its own is for `/mcp` alone. Null for another credential. */
  bearerFor: (caller: Principal) => Promise<string | null>;
}

export function mcpOperations(deps: McpDeps): Operations<'worker'> {
  const mcp = createMcp(deps);
  const hosts = new Set(deps.publicUrls.map((url) => new URL(url).hostname));
  return {
    mcp: async ({ caller, req, res, body }) => {
      requireOwnPage(req.headers.origin, hosts);
      const cut = new AbortController();
      res.once('close', () => cut.abort());
      const asked = new Request(new URL(req.originalUrl, deps.baseUrl), {
        method: 'POST',
        headers: withBearer(headersOf(req.headers, req.ip), await deps.bearerFor(caller)),
        body: JSON.stringify(body),
        signal: cut.signal,
      });
      const answer = await mcp.fetch(asked, { parsedBody: body, authInfo: authInfoOf(caller) });
      res.status(answer.status);
      answer.headers.forEach((value, name) => void res.setHeader(name, value));
      if (!answer.body) return void res.end();
      // The caller may leave before the end.
      await pipeline(Readable.fromWeb(answer.body as never), res).catch(() => undefined);
    },
  };
}

/** Without cookies: a page in somebody's browser is no agent. */
function headersOf(headers: NodeJS.Dict<string | string[]>, ip: string | undefined): Headers {
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !['cookie', 'content-length', 'transfer-encoding', 'connection'].includes(name)) {
      kept.set(name, String(value));
    }
  }
  if (ip) kept.set('x-forwarded-for', ip);
  return kept;
}

function withBearer(headers: Headers, bearer: string | null): Headers {
  if (bearer === null) return headers;
  headers.delete('x-svc-token');
  headers.set('authorization', `Bearer ${bearer}`);
  return headers;
}

/**
 * The protocol asks servers to check it: a page whose name has come to mean this machine (DNS rebinding) says who it is. Agents
 * that are no page send none.
 * @throws AppError 403
 */
function requireOwnPage(origin: string | undefined, hosts: Set<string>): void {
  if (origin === undefined || (URL.canParse(origin) && hosts.has(new URL(origin).hostname))) return;
  throw forbidden('foreign_origin', 'a page of another origin may not speak to this address');
}
