-- What registered MCP servers listed last, and how each tool was described when it was first seen.
CREATE TABLE mcp_tool_lists (
  connection_id text NOT NULL,
  workspace_id text NOT NULL,
  version integer NOT NULL,
  tools json NOT NULL,
  accepted jsonb NOT NULL,
  listed_at timestamptz(3) NOT NULL,
  CONSTRAINT mcp_tool_lists_pkey PRIMARY KEY (connection_id),
  CONSTRAINT mcp_tool_lists_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX mcp_tool_lists_workspace_id_idx ON mcp_tool_lists (workspace_id);
CREATE INDEX mcp_tool_lists_listed_at_idx ON mcp_tool_lists (listed_at);
