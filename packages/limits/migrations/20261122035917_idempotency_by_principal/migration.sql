-- Keys counted per workspace and lived for a day: those of before say neither whose they are nor of which operation.
DROP TABLE "idempotency_keys";

CREATE TABLE "idempotency_keys" (
    -- Whose key it is: a principal, an address, the senders of one worker's webhook.
    "scope" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    -- Of the request, under a key that the database does not hold.
    "request_hash" BYTEA NOT NULL,
    -- The request that works under the key, and until when without a renewal; null: none.
    "claim" TEXT,
    "lease_until" TIMESTAMPTZ,
    -- What was made, committed together with it.
    "made_id" TEXT,
    -- What was answered. A body that shows a secret is not kept.
    "response_status" INTEGER,
    "response_body" JSON,
    "response_location" TEXT,
    -- Where the thing is, so that it goes with its workspace.
    "workspace_id" TEXT,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("scope", "operation", "key")
);
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys"("created_at");
CREATE INDEX "idempotency_keys_by_workspace" ON "idempotency_keys"("workspace_id");
