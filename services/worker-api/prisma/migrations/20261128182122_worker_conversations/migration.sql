-- CreateTable
CREATE TABLE "worker_conversations" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "worker_uid" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "inputs" JSON NOT NULL,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "worker_conversations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "worker_conversation_turns" (
    "conversation_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "message" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "left_out" INTEGER NOT NULL,

    CONSTRAINT "worker_conversation_turns_pkey" PRIMARY KEY ("conversation_id","number")
);

-- CreateIndex
CREATE INDEX "worker_conversations_worker_uid_updated_at_id_idx" ON "worker_conversations"("worker_uid", "updated_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "worker_conversation_turns_run_id_key" ON "worker_conversation_turns"("run_id");

-- AddForeignKey
ALTER TABLE "worker_conversations" ADD CONSTRAINT "worker_conversations_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "worker_conversation_turns" ADD CONSTRAINT "worker_conversation_turns_conversation_id_fkey" FOREIGN KEY ("conversation_id") REFERENCES "worker_conversations"("id") ON DELETE CASCADE ON UPDATE CASCADE;


