-- A call of a connection's tool is a step that the service carries out: written as `calling` before the call, so that nobody calls twice.
-- The new checks hold for every row that there is, and so need not read them.
ALTER TABLE run_steps
  DROP CONSTRAINT run_steps_kind_check,
  DROP CONSTRAINT run_steps_status_check,
  ADD CONSTRAINT run_steps_kind_check CHECK (kind IN ('step', 'sleep', 'approve', 'call', 'tool')) NOT VALID,
  ADD CONSTRAINT run_steps_status_check CHECK (status IN ('pending', 'completed', 'calling', 'failed')) NOT VALID,
  -- Of tool calls: the attempt that asked, and until when whoever calls may take.
  ADD COLUMN attempt integer,
  ADD COLUMN calling_until timestamptz(3);
