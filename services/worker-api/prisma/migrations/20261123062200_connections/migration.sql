-- Connections to other services and MCP servers, and the OAuth clients that make them.
-- CreateEnum
CREATE TYPE "connection_kind" AS ENUM ('oauth', 'mcp', 'api_key');

-- CreateEnum
CREATE TYPE "connection_status" AS ENUM ('active', 'pending', 'expired', 'error');

-- CreateTable
CREATE TABLE "connections" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "kind" "connection_kind" NOT NULL,
    "app" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "visibility" "visibility" NOT NULL DEFAULT 'private',
    "owner_id" TEXT,
    "status" "connection_status" NOT NULL,
    "problem" TEXT,
    "scopes" TEXT[],
    "account_label" TEXT,
    "hosts" TEXT[],
    "parameters" JSONB NOT NULL DEFAULT '{}',
    "url" TEXT,
    "auth_secret" TEXT,
    "allowed_tools" JSONB,
    "sealed" BYTEA,
    "version" INTEGER NOT NULL DEFAULT 1,
    "token_expires_at" TIMESTAMPTZ(3),
    "refresh_at" TIMESTAMPTZ(3),
    "refresh_failures" INTEGER NOT NULL DEFAULT 0,
    "leased_until" TIMESTAMPTZ(3),
    "last_checked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "connections_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "connection_departures" (
    "state_hash" BYTEA NOT NULL,
    "connection_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "scopes" TEXT[],
    "nonce" TEXT,
    "code_verifier" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "connection_departures_pkey" PRIMARY KEY ("state_hash")
);

-- CreateTable
CREATE TABLE "connection_revocations" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "parameters" JSONB NOT NULL DEFAULT '{}',
    "sealed" BYTEA NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "connection_revocations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "oauth_apps" (
    "workspace_id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "client_secret" BYTEA,
    "version" INTEGER NOT NULL DEFAULT 1,
    "provider" JSONB,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_apps_pkey" PRIMARY KEY ("workspace_id","slug")
);

-- CreateIndex
CREATE INDEX "connections_workspace_id_created_at_id_idx" ON "connections"("workspace_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "connections_workspace_id_app_idx" ON "connections"("workspace_id", "app");

-- CreateIndex
CREATE INDEX "connections_refresh_at_idx" ON "connections"("refresh_at");

-- CreateIndex
CREATE INDEX "connection_departures_created_at_idx" ON "connection_departures"("created_at");

-- CreateIndex
CREATE INDEX "connection_departures_connection_id_idx" ON "connection_departures"("connection_id");

-- CreateIndex
CREATE INDEX "connection_revocations_next_attempt_at_idx" ON "connection_revocations"("next_attempt_at");

-- CreateIndex
CREATE INDEX "connection_revocations_workspace_id_idx" ON "connection_revocations"("workspace_id");

-- AddForeignKey
ALTER TABLE "connections" ADD CONSTRAINT "connections_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connection_departures" ADD CONSTRAINT "connection_departures_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connection_revocations" ADD CONSTRAINT "connection_revocations_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "oauth_apps" ADD CONSTRAINT "oauth_apps_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;


