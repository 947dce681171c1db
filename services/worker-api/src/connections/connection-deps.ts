import type { SecretStore } from '@gantry/vault';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Db } from '../database';
import type { IntegrationDeps } from '../integrations/integration-deps';
import type { McpClient } from './mcp-client-types';

export interface ConnectionDeps extends IntegrationDeps {
  pool: Pool;
  secrets: SecretStore;
  mcpClient: McpClient;
  /** Names of the providers of models that a connection is the key of. */
  listProvidersWithKey: (db: Db, workspaceId: string, connectionId: string) => Promise<string[]>;
  now: () => Date;
  log: Logger;
}

/** Lets people sign in at providers and MCP servers. */
export interface AuthorizationDeps extends ConnectionDeps {
  /** Public address of the worker surface, without a slash at the end. */
  baseUrl: string;
}
