-- Runs that wait without a process, are retried, or take one of a limited number of slots: see packages/run-engine.
ALTER TABLE runs
  DROP CONSTRAINT runs_status_check,
  ADD CONSTRAINT runs_status_check CHECK (status IN
    ('queued', 'running', 'suspended', 'pending_approval', 'completed', 'failed', 'cancelled', 'timed_out', 'rejected')),
  -- What people call the subject: a worker's slug.
  ADD COLUMN subject_ref text,
  -- The run that called this one, or that it repeats.
  ADD COLUMN parent_run_id text,
  -- How many runs led to this one by events and calls.
  ADD COLUMN depth smallint NOT NULL DEFAULT 0,
  ADD COLUMN retries_used integer NOT NULL DEFAULT 0,
  -- {"backoffMs": ..., "factor": ..., "backoffMsMax": ...}; null: a failed run is not retried.
  ADD COLUMN retry json,
  -- Suspended runs: when to go on; null waits for somebody.
  ADD COLUMN wake_at timestamptz(3),
  -- Suspended runs: what for, as packages/events' `suspension` has it, or {"kind": "retry"}.
  ADD COLUMN suspension json,
  -- At most slot_limit runs with the same key run at once.
  ADD COLUMN slot_key text,
  ADD COLUMN slot_limit integer;

CREATE INDEX runs_to_wake ON runs (wake_at) WHERE status = 'suspended' AND wake_at IS NOT NULL;
CREATE INDEX runs_queued_for_slot ON runs (slot_key, priority DESC, available_at, id) WHERE status = 'queued' AND slot_key IS NOT NULL;
CREATE INDEX runs_in_slot ON runs (slot_key) WHERE status = 'running' AND slot_key IS NOT NULL;
CREATE INDEX runs_by_parent ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;

-- What a run has done for good: written before its code sees the result, answered from here when the code runs again.
CREATE TABLE run_steps (
  run_id      text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  -- Order in which the code first asked for it: 1, 2, ...
  ordinal     integer NOT NULL,
  kind        text NOT NULL CHECK (kind IN ('step', 'sleep', 'approve', 'call')),
  name        text NOT NULL,
  -- `pending`: the run is suspended for it.
  status      text NOT NULL CHECK (status IN ('pending', 'completed')),
  result      json,
  -- The called run, the approval.
  ref         text,
  started_at  timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  PRIMARY KEY (run_id, ordinal)
);
CREATE INDEX run_steps_by_ref ON run_steps (ref) WHERE ref IS NOT NULL;
