CREATE TYPE "worker_status" AS ENUM ('active', 'paused', 'archived');
CREATE TYPE "visibility" AS ENUM ('private', 'workspace');
CREATE TYPE "misfire" AS ENUM ('skip', 'fire_once', 'catch_up');
CREATE TYPE "trigger_type" AS ENUM ('cron', 'webhook', 'event');
CREATE TYPE "approval_status" AS ENUM ('pending', 'approved', 'rejected', 'expired');
CREATE TYPE "delivery_status" AS ENUM ('pending', 'delivered', 'dead');

CREATE TABLE "workers" (
    "uid" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "status" "worker_status" NOT NULL DEFAULT 'active',
    "visibility" "visibility" NOT NULL DEFAULT 'workspace',
    "tags" TEXT[] NOT NULL,
    "runner" TEXT NOT NULL,
    "current_version" INTEGER NOT NULL,
    "owner_id" TEXT,
    "webhook_hash" BYTEA,
    "webhook_pepper_version" TEXT,
    "webhook_signing_key" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "workers_pkey" PRIMARY KEY ("uid")
);
CREATE UNIQUE INDEX "workers_workspace_id_id_key" ON "workers"("workspace_id", "id");
CREATE INDEX "workers_workspace_id_created_at_uid_idx" ON "workers"("workspace_id", "created_at" DESC, "uid" DESC);
CREATE INDEX "workers_id_idx" ON "workers"("id");
CREATE INDEX "workers_deleted_at_idx" ON "workers"("deleted_at");
ALTER TABLE "workers" ADD CONSTRAINT "workers_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "worker_versions" (
    "worker_uid" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "sha" TEXT NOT NULL,
    "definition" JSON NOT NULL,
    "files" JSON NOT NULL,
    "code_digest" TEXT NOT NULL,
    "code_key" TEXT NOT NULL,
    "code_size" INTEGER NOT NULL,
    "message" TEXT,
    "author_id" TEXT,
    "author_label" TEXT,
    "change_source" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "worker_versions_pkey" PRIMARY KEY ("worker_uid","number")
);
CREATE INDEX "worker_versions_worker_uid_sha_idx" ON "worker_versions"("worker_uid", "sha");
ALTER TABLE "worker_versions" ADD CONSTRAINT "worker_versions_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "worker_triggers" (
    "id" TEXT NOT NULL,
    "worker_uid" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "type" "trigger_type" NOT NULL,
    "cron" TEXT,
    "timezone" TEXT,
    "misfire" "misfire",
    "inputs" JSON,
    "next_run_at" TIMESTAMPTZ(3),
    "last_scheduled_at" TIMESTAMPTZ(3),
    "missed_fires" INTEGER NOT NULL DEFAULT 0,
    "on" TEXT[] NOT NULL,
    "source_id" TEXT,

    CONSTRAINT "worker_triggers_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "worker_triggers_worker_uid_idx" ON "worker_triggers"("worker_uid");
CREATE INDEX "worker_triggers_next_run_at_idx" ON "worker_triggers"("next_run_at");
CREATE INDEX "worker_triggers_workspace_id_type_idx" ON "worker_triggers"("workspace_id", "type");
ALTER TABLE "worker_triggers" ADD CONSTRAINT "worker_triggers_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "webhook_receipts" (
    "worker_uid" TEXT NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_receipts_pkey" PRIMARY KEY ("worker_uid","webhook_id")
);
CREATE INDEX "webhook_receipts_received_at_idx" ON "webhook_receipts"("received_at");
ALTER TABLE "webhook_receipts" ADD CONSTRAINT "webhook_receipts_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "worker_month_costs" (
    "worker_uid" TEXT NOT NULL,
    "month" DATE NOT NULL,
    "usd" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "worker_month_costs_pkey" PRIMARY KEY ("worker_uid","month")
);
ALTER TABLE "worker_month_costs" ADD CONSTRAINT "worker_month_costs_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "contexts" (
    "uid" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "visibility" "visibility" NOT NULL DEFAULT 'workspace',
    "writeable" BOOLEAN NOT NULL DEFAULT false,
    "current_version" INTEGER NOT NULL,
    "owner_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "contexts_pkey" PRIMARY KEY ("uid")
);
CREATE UNIQUE INDEX "contexts_workspace_id_name_key" ON "contexts"("workspace_id", "name");
ALTER TABLE "contexts" ADD CONSTRAINT "contexts_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "context_versions" (
    "context_uid" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "sha" TEXT NOT NULL,
    "files" JSON NOT NULL,
    "pack_digest" TEXT NOT NULL,
    "pack_key" TEXT NOT NULL,
    "pack_size" INTEGER NOT NULL,
    "findings" JSON NOT NULL,
    "message" TEXT,
    "author_id" TEXT,
    "author_label" TEXT,
    "change_source" TEXT NOT NULL,
    "run_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "context_versions_pkey" PRIMARY KEY ("context_uid","number")
);
CREATE INDEX "context_versions_context_uid_sha_idx" ON "context_versions"("context_uid", "sha");
CREATE UNIQUE INDEX "context_versions_context_uid_run_id_key" ON "context_versions"("context_uid", "run_id");
ALTER TABLE "context_versions" ADD CONSTRAINT "context_versions_context_uid_fkey" FOREIGN KEY ("context_uid") REFERENCES "contexts"("uid") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "approvals" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "worker_uid" TEXT NOT NULL,
    "worker_id" TEXT NOT NULL,
    "step_ordinal" INTEGER,
    "status" "approval_status" NOT NULL DEFAULT 'pending',
    "title" TEXT NOT NULL,
    "message" TEXT,
    "data" JSON,
    "form" JSON,
    "requested_by" TEXT,
    "requested_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "decided_at" TIMESTAMPTZ(3),
    "decided_by" TEXT,
    "decided_by_label" TEXT,
    "reason" TEXT,
    "answer" JSON,

    CONSTRAINT "approvals_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "approvals_workspace_id_status_requested_at_id_idx" ON "approvals"("workspace_id", "status", "requested_at" DESC, "id" DESC);
CREATE INDEX "approvals_run_id_idx" ON "approvals"("run_id");
CREATE INDEX "approvals_status_expires_at_idx" ON "approvals"("status", "expires_at");
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "alerts" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "worker_uid" TEXT,
    "automation_id" TEXT,
    "on" TEXT[] NOT NULL,
    "url" TEXT,
    "email_to" TEXT,
    "description" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabled_reason" TEXT,
    "signing_key" BYTEA,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "alerts_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "alerts_workspace_id_created_at_id_idx" ON "alerts"("workspace_id", "created_at" DESC, "id" DESC);
CREATE INDEX "alerts_worker_uid_idx" ON "alerts"("worker_uid");
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "alert_deliveries" (
    "id" TEXT NOT NULL,
    "alert_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "channel" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "payload" JSON NOT NULL,
    "status" "delivery_status" NOT NULL DEFAULT 'pending',
    "attempts" JSON NOT NULL DEFAULT '[]',
    "attempts_made" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "alert_deliveries_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "alert_deliveries_alert_id_event_id_channel_key" ON "alert_deliveries"("alert_id", "event_id", "channel");
CREATE INDEX "alert_deliveries_alert_id_created_at_id_idx" ON "alert_deliveries"("alert_id", "created_at" DESC, "id" DESC);
CREATE INDEX "alert_deliveries_status_next_attempt_at_idx" ON "alert_deliveries"("status", "next_attempt_at");
ALTER TABLE "alert_deliveries" ADD CONSTRAINT "alert_deliveries_alert_id_fkey" FOREIGN KEY ("alert_id") REFERENCES "alerts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "secrets" (
    "workspace_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "sealed" BYTEA NOT NULL,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "secrets_pkey" PRIMARY KEY ("workspace_id","name")
);
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;
