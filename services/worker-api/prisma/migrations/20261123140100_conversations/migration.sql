-- Conversations with the chat agent: each belongs to one person or one token.
-- CreateTable
CREATE TABLE "conversations" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "last_event" INTEGER NOT NULL DEFAULT 0,
    "shown_event" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "conversations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "chat_turns" (
    "id" TEXT NOT NULL,
    "conversation_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "message" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "error_code" TEXT,
    "error_detail" TEXT,
    "stop_requested" BOOLEAN NOT NULL DEFAULT false,
    "leased_by" TEXT,
    "leased_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "chat_turns_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "chat_parts" (
    "turn_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "content" JSON NOT NULL,
    "call_id" TEXT,
    "status" TEXT,
    "result" TEXT,
    "links" JSON,

    CONSTRAINT "chat_parts_pkey" PRIMARY KEY ("turn_id","number")
);

-- CreateTable
CREATE TABLE "chat_events" (
    "conversation_id" TEXT NOT NULL,
    "id" INTEGER NOT NULL,
    "turn_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "data" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "chat_events_pkey" PRIMARY KEY ("conversation_id","id")
);

-- CreateIndex
CREATE INDEX "conversations_workspace_id_owner_id_updated_at_id_idx" ON "conversations"("workspace_id", "owner_id", "updated_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "chat_turns_status_leased_until_idx" ON "chat_turns"("status", "leased_until");

-- CreateIndex
CREATE UNIQUE INDEX "chat_turns_conversation_id_number_key" ON "chat_turns"("conversation_id", "number");

-- CreateIndex
CREATE UNIQUE INDEX "chat_parts_call_id_key" ON "chat_parts"("call_id");

-- CreateIndex
CREATE INDEX "chat_events_created_at_idx" ON "chat_events"("created_at");

-- AddForeignKey
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "chat_turns" ADD CONSTRAINT "chat_turns_conversation_id_fkey" FOREIGN KEY ("conversation_id") REFERENCES "conversations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "chat_parts" ADD CONSTRAINT "chat_parts_turn_id_fkey" FOREIGN KEY ("turn_id") REFERENCES "chat_turns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "chat_events" ADD CONSTRAINT "chat_events_conversation_id_fkey" FOREIGN KEY ("conversation_id") REFERENCES "conversations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
