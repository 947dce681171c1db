-- When the address was shown to be this user's: by a link that our mailer sent to it, or by an identity provider's word.
-- Null: it is only what somebody typed, and nothing that was meant for the address is shown to them.
ALTER TABLE "users" ADD COLUMN "email_verified_at" TIMESTAMPTZ(3);
-- API keys of other services that were made before are refused: they can't be revoked from here.
ALTER TABLE "users" ADD COLUMN "keys_valid_from" TIMESTAMPTZ(3);
-- An identity was linked only when the provider had verified the address. How anybody else came by a link is not written
-- anywhere: they keep all that is theirs, and prove the address when they need it.
UPDATE "users" u SET "email_verified_at" = e."at"
  FROM (SELECT "user_id", min("created_at") AS "at" FROM "external_identities" GROUP BY "user_id") e
  WHERE e."user_id" = u."id";

-- Whether the present link went out by mail and was shown to nobody: then opening it proves the address.
ALTER TABLE "invitations" ADD COLUMN "mailed" BOOLEAN NOT NULL DEFAULT false;
-- The token that the inviter used; the invitation ends with it.
ALTER TABLE "invitations" ADD COLUMN "token_id" TEXT;
UPDATE "invitations" SET "token_id" = "invited_by" WHERE "invited_by" LIKE 'tok\_%';

-- Links of before do not say for which address or by whom they were made; they live for a day at most.
DELETE FROM "password_resets";
ALTER TABLE "password_resets" ADD COLUMN "email" TEXT NOT NULL;
-- The admin who made it, and where they are one; null for a link that was mailed to whoever asked.
ALTER TABLE "password_resets" ADD COLUMN "issued_by" TEXT;
ALTER TABLE "password_resets" ADD COLUMN "workspace_id" TEXT;
CREATE INDEX "password_resets_issued_by_idx" ON "password_resets"("issued_by");
CREATE INDEX "password_resets_workspace_id_idx" ON "password_resets"("workspace_id");
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_issued_by_fkey" FOREIGN KEY ("issued_by") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "email_verifications" (
    "hash" BYTEA NOT NULL,
    "user_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "email_verifications_pkey" PRIMARY KEY ("hash")
);
CREATE INDEX "email_verifications_user_id_idx" ON "email_verifications"("user_id");
ALTER TABLE "email_verifications" ADD CONSTRAINT "email_verifications_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Set: this person was signed in when they left, and wants the provider's word for their own account.
ALTER TABLE "oidc_sign_ins" ADD COLUMN "prove_user_id" TEXT;
CREATE INDEX "oidc_sign_ins_prove_user_id_idx" ON "oidc_sign_ins"("prove_user_id");
ALTER TABLE "oidc_sign_ins" ADD CONSTRAINT "oidc_sign_ins_prove_user_id_fkey" FOREIGN KEY ("prove_user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The token that asked for this one; no foreign key, for it says more when that token is gone.
ALTER TABLE "tokens" ADD COLUMN "created_by_token_id" TEXT;
UPDATE "tokens" SET "created_by_token_id" = "created_by" WHERE "created_by" LIKE 'tok\_%';
CREATE INDEX "tokens_created_by_token_id_idx" ON "tokens"("created_by_token_id");
