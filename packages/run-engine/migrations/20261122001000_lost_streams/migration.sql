-- How often a run was handed out without having begun: that is bounded.
ALTER TABLE runs ADD COLUMN requeues smallint NOT NULL DEFAULT 0;

-- The incarnation of each stream of run events that this service has read last. A newer one means that reports are lost.
CREATE TABLE run_streams (
  name       text PRIMARY KEY,
  created_at timestamptz NOT NULL
);
