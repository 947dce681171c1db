-- Runs that wait for one of a limited number of slots have an index of their own: they hide no others.
DROP INDEX runs_queued;
CREATE INDEX runs_queued ON runs (workspace_id, priority DESC, available_at, id) WHERE status = 'queued' AND slot_key IS NULL;

CREATE INDEX runs_by_subject_and_rare_status ON runs (subject_id, status, created_at DESC, id DESC)
  WHERE status NOT IN ('completed', 'running');
