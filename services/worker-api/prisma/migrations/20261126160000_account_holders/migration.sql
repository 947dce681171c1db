-- Since when nobody but the present holder has had a link into the account. How earlier links travelled is not recorded,
-- so for existing accounts it begins now: tokens made before do not open what is shared with an unverified member.
ALTER TABLE "users" ADD COLUMN "holder_since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
