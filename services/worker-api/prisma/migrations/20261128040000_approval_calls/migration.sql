-- Tool calls of an agent that are decided one by one. Null for all other approvals, and for those of before.
ALTER TABLE "approvals" ADD COLUMN "calls" JSON;
