-- What a connection's server listed goes with the connection. Lists of connections that are gone already go first.
DELETE FROM mcp_tool_lists l WHERE NOT EXISTS (SELECT FROM connections c WHERE c.id = l.connection_id);
ALTER TABLE mcp_tool_lists ADD CONSTRAINT mcp_tool_lists_connection_id_fkey
  FOREIGN KEY (connection_id) REFERENCES connections (id) ON DELETE CASCADE ON UPDATE CASCADE;
