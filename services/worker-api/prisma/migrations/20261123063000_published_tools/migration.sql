-- Workers that agents find as tools of /mcp.
CREATE TABLE published_tools (
  workspace_id text NOT NULL,
  name text NOT NULL,
  worker_uid text NOT NULL,
  description text,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT published_tools_pkey PRIMARY KEY (workspace_id, name),
  CONSTRAINT published_tools_worker_uid_fkey FOREIGN KEY (worker_uid) REFERENCES workers (uid) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX published_tools_worker_uid_idx ON published_tools (worker_uid);
