-- A share whose address a member of the skill's workspace had when its owner named it (ADR 62).
ALTER TABLE "skill_shares" ADD COLUMN "member_id" TEXT, ADD COLUMN "holder_since" TIMESTAMPTZ(3);
