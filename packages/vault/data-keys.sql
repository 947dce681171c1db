-- Goes into the first migration of every service that uses packages/vault.
CREATE TABLE "data_keys" (
    "workspace_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "kek_version" TEXT NOT NULL,
    "wrapped_key" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "data_keys_pkey" PRIMARY KEY ("workspace_id", "version")
);
CREATE INDEX "data_keys_kek_version_idx" ON "data_keys"("kek_version");
