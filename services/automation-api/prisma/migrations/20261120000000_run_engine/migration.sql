-- Tables that packages/run-engine, packages/events and packages/http write. Values that come from user code are `json`
-- and not `jsonb`: jsonb refuses \u0000, and nothing here looks inside them.

CREATE TABLE runs (
  id               text PRIMARY KEY,
  workspace_id     text NOT NULL,
  subject_id       text NOT NULL,
  kind             text NOT NULL,
  trigger          text NOT NULL,
  version          integer,
  status           text NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled', 'timed_out')),
  priority         smallint NOT NULL DEFAULT 0,
  -- Grows each time the run is handed out; a message of an earlier attempt changes nothing.
  attempt          integer NOT NULL DEFAULT 0,
  -- True once the executor said that user code of this attempt began: from then on it is never run again unasked.
  confirmed        boolean NOT NULL DEFAULT false,
  retries_left     integer NOT NULL DEFAULT 0,
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

CREATE TABLE outbox (
  id           text PRIMARY KEY,
  type         text NOT NULL,
  workspace_id text NOT NULL,
  traceparent  text,
  data         jsonb NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_in_order ON outbox (created_at);

CREATE TABLE inbox (
  consumer    text NOT NULL,
  event_id    text NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, event_id)
);

CREATE TABLE idempotency_keys (
  workspace_id    text NOT NULL,
  key             text NOT NULL,
  request_hash    text NOT NULL,
  locked_until    timestamptz NOT NULL,
  response_status integer,
  response_body   json,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
