-- The server's creation time of a stream changes with restarts, so streams have an identity of ours. Replicas of the version
-- before still write created_at while they are being replaced.
ALTER TABLE run_streams
  ADD COLUMN identity text,
  ADD COLUMN last_seq bigint NOT NULL DEFAULT 0,
  ALTER COLUMN created_at DROP NOT NULL;
