-- A run is handed out only to executors that have its runner. Those from before there were others are Python.
ALTER TABLE runs ADD COLUMN runner TEXT NOT NULL DEFAULT 'python';

-- By runner first: what is queued for a runner that nobody has costs the others nothing.
DROP INDEX runs_queued;
CREATE INDEX runs_queued ON runs (runner, workspace_id, priority DESC, available_at, id)
  WHERE status = 'queued' AND slot_key IS NULL;
DROP INDEX runs_queued_for_slot;
CREATE INDEX runs_queued_for_slot ON runs (runner, slot_key, priority DESC, available_at, id)
  WHERE status = 'queued' AND slot_key IS NOT NULL;
