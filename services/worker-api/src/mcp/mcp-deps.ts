import type { Principal } from '@gantry/limits';
import type { McpOptions } from './mcp-server';
import type { McpAddresses } from './mcp-transport';

export interface McpDeps extends McpOptions, McpAddresses {
  /** The Bearer by which an OAuth client's tools call the API: its own is for `/mcp` alone. Null for another credential. */
  bearerFor: (caller: Principal) => Promise<string | null>;
}
