import type { Pool } from 'pg';
import type { McpClient } from '../connections/mcp-client-types';
import type { PrismaClient } from '../generated/prisma/client';

export interface McpToolDeps {
  prisma: PrismaClient;
  pool: Pool;
  mcpClient: McpClient;
  now: () => Date;
}
