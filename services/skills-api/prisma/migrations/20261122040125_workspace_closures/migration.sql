-- Written with SQL by packages/events: what worker-api announced of workspaces that were deleted, the latest deletion of each,
-- and whether it was undone.
CREATE TABLE workspace_closures (
  workspace_id text PRIMARY KEY,
  -- Names the deletion: a later one is purged later.
  purge_at     timestamptz(3) NOT NULL,
  restored     boolean NOT NULL
);
