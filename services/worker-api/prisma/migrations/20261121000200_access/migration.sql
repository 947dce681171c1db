-- Set: nobody can enter; an owner may restore it for seven days.
ALTER TABLE "workspaces" ADD COLUMN "deleted_at" TIMESTAMPTZ(3);
CREATE INDEX "workspaces_deleted_at_idx" ON "workspaces"("deleted_at");

CREATE TABLE "invitations" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" "role" NOT NULL,
    "hash" BYTEA NOT NULL,
    "invited_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),
    "withdrawn_at" TIMESTAMPTZ(3),

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "invitations_hash_key" ON "invitations"("hash");
CREATE INDEX "invitations_workspace_id_created_at_id_idx" ON "invitations"("workspace_id", "created_at" DESC, "id" DESC);
CREATE INDEX "invitations_email_idx" ON "invitations"("email");
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "password_resets" (
    "hash" BYTEA NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "password_resets_pkey" PRIMARY KEY ("hash")
);
CREATE INDEX "password_resets_user_id_idx" ON "password_resets"("user_id");
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "external_identities" (
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "external_identities_pkey" PRIMARY KEY ("issuer","subject")
);
CREATE INDEX "external_identities_user_id_idx" ON "external_identities"("user_id");
ALTER TABLE "external_identities" ADD CONSTRAINT "external_identities_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "oidc_sign_ins" (
    "state_hash" BYTEA NOT NULL,
    "nonce" TEXT NOT NULL,
    "code_verifier" TEXT NOT NULL,
    "origin" TEXT NOT NULL,
    "return_to" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oidc_sign_ins_pkey" PRIMARY KEY ("state_hash")
);
CREATE INDEX "oidc_sign_ins_created_at_idx" ON "oidc_sign_ins"("created_at");

CREATE TYPE "device_status" AS ENUM ('pending', 'approved', 'denied');
CREATE TABLE "device_requests" (
    "id" TEXT NOT NULL,
    "device_hash" BYTEA NOT NULL,
    "user_code" TEXT NOT NULL,
    "client_name" TEXT,
    "address" TEXT,
    "user_agent" TEXT,
    "status" "device_status" NOT NULL DEFAULT 'pending',
    "decided_by" TEXT,
    "workspace_id" TEXT,
    "wrong_codes" INTEGER NOT NULL DEFAULT 0,
    "polled_at" TIMESTAMPTZ(3),
    "spent_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "device_requests_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "device_requests_device_hash_key" ON "device_requests"("device_hash");
CREATE UNIQUE INDEX "device_requests_user_code_key" ON "device_requests"("user_code");
CREATE INDEX "device_requests_expires_at_idx" ON "device_requests"("expires_at");
CREATE INDEX "device_requests_decided_by_idx" ON "device_requests"("decided_by");
CREATE INDEX "device_requests_workspace_id_idx" ON "device_requests"("workspace_id");
ALTER TABLE "device_requests" ADD CONSTRAINT "device_requests_decided_by_fkey" FOREIGN KEY ("decided_by") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "device_requests" ADD CONSTRAINT "device_requests_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "device_guesses" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "device_guesses_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "device_guesses_user_id_created_at_idx" ON "device_guesses"("user_id", "created_at");
ALTER TABLE "device_guesses" ADD CONSTRAINT "device_guesses_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Who changed what, written with SQL in the transaction of the change. Names nobody by foreign key: what happened stays
-- written when the user or the token is gone. An entry of another service has the id of the event that brought it.
CREATE TABLE "audit_log" (
    "id" TEXT NOT NULL,
    -- Null: concerns a user who is a member of no workspace.
    "workspace_id" TEXT,
    "source" TEXT NOT NULL,
    "actor_kind" TEXT NOT NULL,
    "actor_id" TEXT,
    "actor_label" TEXT,
    "actor_token_id" TEXT,
    "action" TEXT NOT NULL,
    "resource_type" TEXT NOT NULL,
    "resource_id" TEXT,
    "details" JSONB NOT NULL,
    "address" TEXT,
    "user_agent" TEXT,
    "request_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "audit_log_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "audit_log_of_workspace" ON "audit_log"("workspace_id", "created_at" DESC, "id" DESC);
CREATE INDEX "audit_log_by_age" ON "audit_log"("created_at");

-- Append-only also for our own code: only the sweep of what has had its time, and of a purged workspace, says so first.
CREATE FUNCTION "audit_log_is_append_only"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('gantry.audit_sweep', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only';
END $$;
CREATE TRIGGER "audit_log_append_only" BEFORE UPDATE OR DELETE ON "audit_log"
  FOR EACH ROW EXECUTE FUNCTION "audit_log_is_append_only"();
CREATE TRIGGER "audit_log_no_truncate" BEFORE TRUNCATE ON "audit_log"
  FOR EACH STATEMENT EXECUTE FUNCTION "audit_log_is_append_only"();
