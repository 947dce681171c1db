-- A list by trigger would otherwise walk through all that something else has started.
CREATE INDEX runs_by_trigger ON runs (workspace_id, trigger, created_at DESC, id DESC);
