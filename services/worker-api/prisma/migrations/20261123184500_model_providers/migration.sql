-- Models that workspaces offer themselves, with the keys of their connections.
CREATE TABLE "model_providers" (
    "workspace_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "connection_id" TEXT NOT NULL,
    "base_url" TEXT,
    "models" TEXT[],
    "prices" JSONB NOT NULL DEFAULT '{}',
    "timeout_seconds" INTEGER,
    "max_output_tokens" INTEGER,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "model_providers_pkey" PRIMARY KEY ("workspace_id","name")
);

ALTER TABLE "model_providers" ADD CONSTRAINT "model_providers_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;
