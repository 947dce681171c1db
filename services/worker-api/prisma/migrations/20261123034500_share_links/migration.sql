-- Links that let somebody without an account look at one run.
CREATE TABLE share_links (
  id text NOT NULL,
  workspace_id text NOT NULL,
  worker_uid text NOT NULL,
  run_id text NOT NULL,
  hash bytea NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamptz(3) NOT NULL,
  CONSTRAINT share_links_pkey PRIMARY KEY (id),
  CONSTRAINT share_links_workspace_id_created_by_fkey FOREIGN KEY (workspace_id, created_by)
    REFERENCES memberships (workspace_id, user_id) ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT share_links_worker_uid_fkey FOREIGN KEY (worker_uid) REFERENCES workers (uid) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX share_links_hash_key ON share_links (hash);
CREATE INDEX share_links_run_id_idx ON share_links (run_id);
CREATE INDEX share_links_workspace_id_created_by_idx ON share_links (workspace_id, created_by);
CREATE INDEX share_links_worker_uid_idx ON share_links (worker_uid);
CREATE INDEX share_links_expires_at_idx ON share_links (expires_at);
