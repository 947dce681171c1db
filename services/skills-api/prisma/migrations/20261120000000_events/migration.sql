-- Written with SQL by packages/events and packages/http.

CREATE TABLE "outbox" (
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "traceparent" TEXT,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "outbox_in_order" ON "outbox"("created_at");

CREATE TABLE "inbox" (
    "consumer" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT "inbox_pkey" PRIMARY KEY ("consumer", "event_id")
);

CREATE TABLE "idempotency_keys" (
    "workspace_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "locked_until" TIMESTAMPTZ NOT NULL,
    "response_status" INTEGER,
    "response_body" JSON,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("workspace_id", "key")
);
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys"("created_at");
