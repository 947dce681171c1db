-- Written with SQL by packages/run-engine, like the tables of the same names in automation-api. Values that come from user
-- code are `json` and not `jsonb`: jsonb refuses \u0000, and nothing here looks inside them.

CREATE TABLE runs (
  id               text PRIMARY KEY,
  workspace_id     text NOT NULL,
  -- The worker's uid; subject_ref is its slug.
  subject_id       text NOT NULL,
  subject_ref      text,
  -- The run that called this one, or that it repeats.
  parent_run_id    text,
  -- How many runs led to this one by events and calls.
  depth            smallint NOT NULL DEFAULT 0,
  kind             text NOT NULL,
  trigger          text NOT NULL,
  version          integer,
  status           text NOT NULL CONSTRAINT runs_status_check CHECK (status IN
    ('queued', 'running', 'suspended', 'pending_approval', 'completed', 'failed', 'cancelled', 'timed_out', 'rejected')),
  priority         smallint NOT NULL DEFAULT 0,
  -- Grows each time the run is handed out; a message of an earlier attempt changes nothing.
  attempt          integer NOT NULL DEFAULT 0,
  -- True once the executor said that user code of this attempt began: from then on it is never run again unasked.
  confirmed        boolean NOT NULL DEFAULT false,
  retries_left     integer NOT NULL DEFAULT 0,
  retries_used     integer NOT NULL DEFAULT 0,
  -- {"backoffMs": ..., "factor": ..., "backoffMsMax": ...}; null: a failed run is not retried.
  retry            json,
  -- Suspended runs: when to go on; null waits for somebody.
  wake_at          timestamptz(3),
  -- Suspended runs: what for, as packages/events' `suspension` has it, or {"kind": "retry"}.
  suspension       json,
  -- At most slot_limit runs with the same key run at once.
  slot_key         text,
  slot_limit       integer,
  executor_id      text,
  lease_expires_at timestamptz(3),
  cancel_requested_at timestamptz(3),
  inputs           json NOT NULL,
  spec             json NOT NULL,
  output           json,
  output_key       text,
  error            json,
  cost_usd         double precision NOT NULL DEFAULT 0,
  cpu_ms           double precision,
  max_rss_bytes    bigint,
  scheduled_for    timestamptz(3),
  created_by       text,
  request_id       text,
  traceparent      text,
  created_at       timestamptz(3) NOT NULL DEFAULT now(),
  available_at     timestamptz(3) NOT NULL DEFAULT now(),
  started_at       timestamptz(3),
  finished_at      timestamptz(3)
);

CREATE INDEX runs_by_workspace ON runs (workspace_id, created_at DESC, id DESC);
CREATE INDEX runs_by_subject ON runs (subject_id, created_at DESC, id DESC);
CREATE INDEX runs_queued ON runs (workspace_id, priority DESC, available_at, id) WHERE status = 'queued';
CREATE INDEX runs_running ON runs (workspace_id) WHERE status = 'running';
CREATE UNIQUE INDEX runs_once_per_fire ON runs (subject_id, scheduled_for) WHERE scheduled_for IS NOT NULL;

-- seq = attempt * 1,000,000 + number within the attempt: what a live stream calls `id`.
CREATE TABLE run_events (
  run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  seq    bigint NOT NULL,
  at     timestamptz(3) NOT NULL,
  type   text NOT NULL,
  data   json NOT NULL,
  PRIMARY KEY (run_id, seq)
);

CREATE TABLE run_artifacts (
  id           text PRIMARY KEY,
  run_id       text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  workspace_id text NOT NULL,
  name         text NOT NULL,
  content_type text NOT NULL,
  size         bigint NOT NULL,
  sha256       text NOT NULL,
  key          text NOT NULL,
  created_at   timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX run_artifacts_by_run ON run_artifacts (run_id);

-- Lists by a status that few runs have; the many completed ones are found by walking the workspace's index.
CREATE INDEX runs_by_rare_status ON runs (workspace_id, status, created_at DESC, id DESC)
  WHERE status NOT IN ('completed', 'running');
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
