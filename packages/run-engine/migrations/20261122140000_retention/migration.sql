-- Events are dropped by the week: the id of a run begins with the second in which it was made, so that a range of ids is a
-- range of time. The table of before becomes the partition of everything that no week has: no row is moved.
-- No foreign key to runs: each event would be checked by it, and a week could not be dropped before its runs.
ALTER TABLE run_events DROP CONSTRAINT run_events_run_id_fkey;
ALTER TABLE run_events RENAME TO run_events_default;
ALTER INDEX run_events_pkey RENAME TO run_events_default_pkey;

CREATE TABLE run_events (
  run_id text NOT NULL,
  seq    bigint NOT NULL,
  at     timestamptz(3) NOT NULL,
  type   text NOT NULL,
  data   json NOT NULL,
  PRIMARY KEY (run_id, seq)
) PARTITION BY RANGE (run_id);
ALTER TABLE run_events ATTACH PARTITION run_events_default DEFAULT;

CREATE TABLE run_retention (
  workspace_id      text PRIMARY KEY,
  -- Settings of the workspace; null: the operator's default.
  run_days          integer,
  log_days          integer,
  runs_kept         integer,
  -- When somebody changed a setting; null: nobody has.
  changed_at        timestamptz(3),
  -- Events of runs made before were deleted one by one, because other workspaces keep theirs for longer.
  events_deleted_to timestamptz(3)
);
