/**
 * Stores the tools that servers listed last, so that a list of all tools needs no request, and how each tool was
 * described when it was first seen: an agent that was told what a tool does does not learn that the server has changed
 * it.
 */
import { createHash } from 'node:crypto';
import type { Sql } from '@gantry/postgres';
import { buildConnectionShareLockSql } from '../connections/connection-repository';
import type { McpServer, McpTool } from '../connections/mcp-client-types';
import { toCanonicalJson } from '../file-trees/canonical-json';

export interface KnownTool extends McpTool {
  /** Its description or its schema is not the one that was first seen. */
  isChanged: boolean;
}

export interface ToolList {
  tools: KnownTool[];
  listedAt: Date;
}

type ToolListKey = Pick<McpServer, 'workspaceId' | 'connectionId' | 'version'>;

interface ToolListRow {
  tools: (McpTool & { digest: string })[];
  accepted: Record<string, string>;
  listed_at: Date;
}

const TTL_MS = 10 * 60_000;
/** A server that gives its tools new names at every list would make the memory grow. */
const NAMES_MAX = 5_000;
const RETENTION = '90 days';

/** Names that were seen before keep their digest; another address or other headers begin anew. */
const UPSERT = `INSERT INTO mcp_tool_lists AS known (connection_id, workspace_id, version, tools, accepted, listed_at)
  SELECT c.id, c.workspace_id, $3::int, $4::json, $5::jsonb, $6::timestamptz FROM (${buildConnectionShareLockSql('$2', '$1')}) c
  ON CONFLICT (connection_id) DO UPDATE SET version = excluded.version, tools = excluded.tools,
    listed_at = excluded.listed_at,
    accepted = CASE
      WHEN known.version = excluded.version AND (SELECT count(*) FROM jsonb_object_keys(known.accepted)) < ${NAMES_MAX}
      THEN excluded.accepted || known.accepted ELSE excluded.accepted END
  WHERE known.workspace_id = excluded.workspace_id AND known.version <= excluded.version
  RETURNING tools, accepted, listed_at`;

/**
 * @returns the tools with whether each has changed; a list of an older version of the connection, or of one that is
 * gone, is not kept
 */
export async function upsertToolList(
  sql: Sql,
  { connectionId, workspaceId, version }: ToolListKey,
  tools: McpTool[],
  now: Date,
): Promise<ToolList> {
  const kept = tools.map((tool) => ({ ...tool, digest: computeDigest(tool) }));
  const accepted = Object.fromEntries(kept.map(({ name, digest }) => [name, digest]));
  const values = [connectionId, workspaceId, version, JSON.stringify(kept), JSON.stringify(accepted), now];
  const { rows } = await sql.query<ToolListRow>(UPSERT, values);
  return toToolList(rows[0] ?? { tools: kept, accepted, listed_at: now });
}

/** Null: unknown, or of another version of the connection. `fresh`: also where it is older than ten minutes. */
export async function findToolList(
  sql: Sql,
  { connectionId, workspaceId, version }: ToolListKey,
  { fresh, now }: { fresh: boolean; now: Date },
): Promise<ToolList | null> {
  const { rows } = await sql.query<ToolListRow>(
    'SELECT tools, accepted, listed_at FROM mcp_tool_lists WHERE connection_id = $1 AND workspace_id = $2 AND version = $3',
    [connectionId, workspaceId, version],
  );
  const [row] = rows;
  if (!row || (fresh && row.listed_at.getTime() + TTL_MS < now.getTime())) return null;
  return toToolList(row);
}

/** Accepts this list. Later changes by the server are marked again, also those before the list is next viewed. */
export const acceptToolList = (sql: Sql, { connectionId, workspaceId, version }: ToolListKey): Promise<unknown> =>
  sql.query(
    `UPDATE mcp_tool_lists SET accepted = accepted || coalesce(
       (SELECT jsonb_object_agg(tool ->> 'name', tool ->> 'digest') FROM json_array_elements(tools) AS tool), '{}')
     WHERE connection_id = $1 AND workspace_id = $2 AND version = $3`,
    [connectionId, workspaceId, version],
  );

/** When the connection is gone. */
export const deleteToolList = (
  sql: Sql,
  { connectionId, workspaceId }: Omit<ToolListKey, 'version'>,
): Promise<unknown> =>
  sql.query('DELETE FROM mcp_tool_lists WHERE connection_id = $1 AND workspace_id = $2', [connectionId, workspaceId]);

/** Deletes lists of servers without a request for long. */
export const sweepToolLists = (sql: Sql): Promise<unknown> =>
  sql.query(`DELETE FROM mcp_tool_lists WHERE listed_at < now() - interval '${RETENTION}'`);

const toToolList = ({ tools, accepted, listed_at: listedAt }: ToolListRow): ToolList => ({
  listedAt,
  tools: tools.map(({ digest, ...tool }) => ({ ...tool, isChanged: accepted[tool.name] !== digest })),
});

/** The same for the same description and schema, in whatever order its keys come. */
const computeDigest = ({ description, inputSchema }: McpTool): string =>
  createHash('sha256')
    .update(toCanonicalJson([description, inputSchema]))
    .digest('hex');
