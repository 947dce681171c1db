-- Written with SQL by packages/events, like the tables of the same name in the other services: the latest deletion of each
-- workspace, and whether it was undone. Here it is written in the transaction of the deletion.
CREATE TABLE workspace_closures (
  workspace_id text PRIMARY KEY,
  -- Names the deletion: a later one is purged later.
  purge_at     timestamptz(3) NOT NULL,
  restored     boolean NOT NULL
);

INSERT INTO workspace_closures (workspace_id, purge_at, restored)
SELECT id, deleted_at + interval '168 hours', false FROM workspaces WHERE deleted_at IS NOT NULL;
