-- The rules of the version that the run began with, so that a decision needs no look at the definition.
ALTER TABLE "approvals" ADD COLUMN "forbid_self" BOOLEAN NOT NULL DEFAULT false;
-- Which of its public links counts: a new one has the next number. Null: there are none.
ALTER TABLE "approvals" ADD COLUMN "link_number" INTEGER;
