-- When a secret was last handed to a run.
ALTER TABLE "secrets" ADD COLUMN "last_used_at" TIMESTAMPTZ(3);
