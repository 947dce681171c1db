import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Operations } from '@gantry/http';
import { authInfoOf, createMcp, type McpOptions } from './mcp-server';

export interface McpDeps extends McpOptions {
  /** The public address of the worker surface. */
  baseUrl: string;
}

export function mcpOperations(deps: McpDeps): Operations<'worker'> {
  const mcp = createMcp(deps);
  return {
    mcp: async ({ caller, req, res, body }) => {
      const cut = new AbortController();
      res.once('close', () => cut.abort());
      const asked = new Request(new URL(req.originalUrl, deps.baseUrl), {
        method: 'POST',
        headers: headersOf(req.headers, req.ip),
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
