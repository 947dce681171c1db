-- AlterTable
ALTER TABLE "tokens" ADD COLUMN     "restriction" JSONB;

-- CreateTable
CREATE TABLE "token_runs" (
    "run_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "budgets" JSONB NOT NULL,

    CONSTRAINT "token_runs_pkey" PRIMARY KEY ("run_id")
);

-- CreateTable
CREATE TABLE "token_spending" (
    "token_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "usd" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "token_spending_pkey" PRIMARY KEY ("token_id")
);

-- CreateIndex
CREATE INDEX "token_runs_workspace_id_idx" ON "token_runs"("workspace_id");

-- CreateIndex
CREATE INDEX "token_spending_workspace_id_idx" ON "token_spending"("workspace_id");

-- AddForeignKey
ALTER TABLE "token_runs" ADD CONSTRAINT "token_runs_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "token_spending" ADD CONSTRAINT "token_spending_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;
