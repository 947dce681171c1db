-- Runs under way count against the budgets of their tokens with what such a run usually costs. Those of before count nothing.
ALTER TABLE "token_runs" ADD COLUMN "reserved_usd" DOUBLE PRECISION NOT NULL DEFAULT 0;
