-- SHA-256 of what a tool, another run or a person was asked: rehearsals find the answer to the same question by it.
ALTER TABLE run_steps ADD COLUMN asked_digest text;
