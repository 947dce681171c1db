-- Versions that are not yet one, with the runs that they are rehearsed against, and repairs that propose them.
-- AlterTable
ALTER TABLE "approvals" ADD COLUMN     "candidate_id" TEXT;

-- CreateTable
CREATE TABLE "worker_candidates" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "worker_uid" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "repair_id" TEXT,
    "base_sha" TEXT NOT NULL,
    "base_number" INTEGER NOT NULL,
    "sha" TEXT NOT NULL,
    "definition" JSON NOT NULL,
    "files" JSON NOT NULL,
    "code_digest" TEXT NOT NULL,
    "code_key" TEXT NOT NULL,
    "code_size" INTEGER NOT NULL,
    "message" TEXT,
    "warnings" JSON NOT NULL,
    "error" TEXT,
    "created_by" TEXT,
    "created_by_label" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "decided_by" TEXT,
    "decided_by_label" TEXT,
    "decided_at" TIMESTAMPTZ(3),

    CONSTRAINT "worker_candidates_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "candidate_cases" (
    "candidate_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "worker_uid" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "rehearsal_run_id" TEXT,
    "base_run_id" TEXT,
    "recorded" JSON,
    "rehearsed" JSON,
    "outcome" TEXT,
    "reason" TEXT,
    "differences" JSON,

    CONSTRAINT "candidate_cases_pkey" PRIMARY KEY ("candidate_id","number")
);

-- CreateTable
CREATE TABLE "repairs" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "worker_uid" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "proven" BOOLEAN,
    "asked_model" TEXT NOT NULL DEFAULT '',
    "model" TEXT,
    "instructions" TEXT,
    "explanation" TEXT,
    "error" TEXT,
    "candidate_id" TEXT,
    "is_report_due" BOOLEAN NOT NULL DEFAULT false,
    "approval_id" TEXT,
    "fingerprint" TEXT,
    "created_by" TEXT,
    "created_by_label" TEXT,
    "token_id" TEXT,
    "leased_by" TEXT,
    "leased_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "repairs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "repair_messages" (
    "repair_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "role" TEXT NOT NULL,
    "content" JSON NOT NULL,

    CONSTRAINT "repair_messages_pkey" PRIMARY KEY ("repair_id","number")
);

-- CreateIndex
CREATE INDEX "worker_candidates_worker_uid_created_at_id_idx" ON "worker_candidates"("worker_uid", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "worker_candidates_status_created_at_idx" ON "worker_candidates"("status", "created_at");

-- CreateIndex
CREATE INDEX "worker_candidates_repair_id_idx" ON "worker_candidates"("repair_id");

-- CreateIndex
CREATE INDEX "worker_candidates_code_key_idx" ON "worker_candidates"("code_key");

-- CreateIndex
CREATE UNIQUE INDEX "candidate_cases_rehearsal_run_id_key" ON "candidate_cases"("rehearsal_run_id");

-- CreateIndex
CREATE UNIQUE INDEX "candidate_cases_base_run_id_key" ON "candidate_cases"("base_run_id");

-- CreateIndex
CREATE INDEX "candidate_cases_worker_uid_status_idx" ON "candidate_cases"("worker_uid", "status");

-- CreateIndex
CREATE INDEX "candidate_cases_status_idx" ON "candidate_cases"("status");

-- CreateIndex
CREATE INDEX "repairs_worker_uid_status_idx" ON "repairs"("worker_uid", "status");

-- CreateIndex
CREATE INDEX "repairs_worker_uid_fingerprint_idx" ON "repairs"("worker_uid", "fingerprint");

-- CreateIndex
CREATE INDEX "repairs_run_id_idx" ON "repairs"("run_id");

-- CreateIndex
CREATE INDEX "repairs_status_leased_until_idx" ON "repairs"("status", "leased_until");

-- CreateIndex
CREATE INDEX "approvals_candidate_id_idx" ON "approvals"("candidate_id");

-- AddForeignKey
ALTER TABLE "worker_candidates" ADD CONSTRAINT "worker_candidates_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "candidate_cases" ADD CONSTRAINT "candidate_cases_candidate_id_fkey" FOREIGN KEY ("candidate_id") REFERENCES "worker_candidates"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "repairs" ADD CONSTRAINT "repairs_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "repair_messages" ADD CONSTRAINT "repair_messages_repair_id_fkey" FOREIGN KEY ("repair_id") REFERENCES "repairs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
