-- Events that JetStream has stored, for as long as it may still lose them (packages/events/src/outbox.ts).
CREATE TABLE "published_events" (
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "traceparent" TEXT,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL,
    "published_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
    "server" TEXT NOT NULL
);
CREATE INDEX "published_events_by_age" ON "published_events"("published_at");
