-- Calls of language models: what they cost, and the budget of a workspace for them.
-- AlterTable
ALTER TABLE "workspaces" ADD COLUMN     "model_budget_usd" DOUBLE PRECISION;

-- CreateTable
CREATE TABLE "model_calls" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "user_id" TEXT,
    "token_id" TEXT,
    "run_id" TEXT,
    "conversation_id" TEXT,
    "turn_id" TEXT,
    "model" TEXT NOT NULL,
    "outcome" TEXT NOT NULL DEFAULT 'started',
    "error_code" TEXT,
    "reserved_usd" DOUBLE PRECISION,
    "usd" DOUBLE PRECISION,
    "input_tokens" INTEGER,
    "cached_tokens" INTEGER,
    "output_tokens" INTEGER,
    "estimated" BOOLEAN NOT NULL DEFAULT false,
    "budgets" JSONB,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "model_calls_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "model_calls_workspace_id_started_at_idx" ON "model_calls"("workspace_id", "started_at");

-- CreateIndex
CREATE INDEX "model_calls_outcome_started_at_idx" ON "model_calls"("outcome", "started_at");

-- CreateIndex
CREATE INDEX "model_calls_run_id_idx" ON "model_calls"("run_id");

-- CreateIndex
CREATE INDEX "model_calls_turn_id_idx" ON "model_calls"("turn_id");

-- AddForeignKey
ALTER TABLE "model_calls" ADD CONSTRAINT "model_calls_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

