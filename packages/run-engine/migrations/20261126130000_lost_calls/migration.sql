-- Of tool calls: how often whoever called has ended before there was an answer. The call itself may be what ends it.
ALTER TABLE run_steps ADD COLUMN lost_calls smallint NOT NULL DEFAULT 0;
