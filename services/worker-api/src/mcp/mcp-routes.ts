import type { Operations, Principal } from '@gantry/http';
import { authInfoOf, createMcp, type McpOptions } from './mcp-server';
import { type McpAddresses, mcpTransport } from './mcp-transport';

export interface McpDeps extends McpOptions, McpAddresses {
  /** The Bearer by which an OAuth client's tools call the API: its own is for `/mcp` alone. Null for another credential. */
  bearerFor: (caller: Principal) => Promise<string | null>;
}

export function mcpOperations(deps: McpDeps): Operations<'worker'> {
  const exchange = mcpTransport(createMcp(deps), deps);
  return {
    mcp: async ({ caller, req, res, body }) =>
      exchange({ req, res, body, bearer: await deps.bearerFor(caller), authInfo: authInfoOf(caller) }),
  };
}
