import type { Operations } from '@gantry/http';
import type { McpDeps } from './mcp-deps';
import { createMcpTransport } from './mcp-transport';

export function createMcpOperations(deps: McpDeps): Operations<'worker'> {
  let server: ReturnType<typeof loadServer> | undefined;
  return {
    mcp: async ({ caller, req, res, body }) => {
      server ??= loadServer(deps);
      const { exchange, toAuthInfo } = server;
      await exchange({ req, res, body, bearer: await deps.bearerFor(caller), authInfo: toAuthInfo(caller) });
    },
  };
}

/** Loads the protocol and the schemas of all tools with the first request: most platforms serve no agents. */
function loadServer(deps: McpDeps) {
  const { toAuthInfo, createMcpServer } = require('./mcp-server') as typeof import('./mcp-server');
  return { exchange: createMcpTransport(createMcpServer(deps), deps), toAuthInfo };
}
