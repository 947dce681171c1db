-- AlterTable
ALTER TABLE "workers" ADD COLUMN     "evaluate_on_save" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "worker_examples" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "worker_uid" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "inputs" JSON NOT NULL,
    "checks" JSON NOT NULL,
    "max_duration_seconds" DOUBLE PRECISION,
    "max_cost_usd" DOUBLE PRECISION,
    "enabled" BOOLEAN NOT NULL,
    "of_run_id" TEXT,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "worker_examples_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "evaluations" (
    "id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "worker_uid" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "sha" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "error" TEXT,
    "trigger" TEXT NOT NULL,
    "under_way" TEXT,
    "saved_version" INTEGER,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "evaluations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "evaluation_results" (
    "evaluation_id" TEXT NOT NULL,
    "example_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "inputs" JSON NOT NULL,
    "checks" JSON NOT NULL,
    "max_duration_seconds" DOUBLE PRECISION,
    "max_cost_usd" DOUBLE PRECISION,
    "of_run_id" TEXT,
    "status" TEXT NOT NULL,
    "run_id" TEXT,
    "verdicts" JSON NOT NULL DEFAULT '[]',
    "output" JSON,
    "error" TEXT,
    "duration_ms" DOUBLE PRECISION,
    "usd" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "leased_by" TEXT,
    "leased_until" TIMESTAMPTZ(3),
    "tries" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "evaluation_results_pkey" PRIMARY KEY ("evaluation_id","example_id")
);

-- CreateIndex
CREATE INDEX "worker_examples_worker_uid_created_at_id_idx" ON "worker_examples"("worker_uid", "created_at", "id");

-- CreateIndex
CREATE INDEX "evaluations_worker_uid_created_at_id_idx" ON "evaluations"("worker_uid", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "evaluations_worker_uid_sha_created_at_idx" ON "evaluations"("worker_uid", "sha", "created_at" DESC);

-- CreateIndex
CREATE INDEX "evaluations_status_created_at_idx" ON "evaluations"("status", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "evaluations_worker_uid_under_way_key" ON "evaluations"("worker_uid", "under_way");

-- CreateIndex
CREATE UNIQUE INDEX "evaluations_worker_uid_saved_version_key" ON "evaluations"("worker_uid", "saved_version");

-- CreateIndex
CREATE UNIQUE INDEX "evaluation_results_run_id_key" ON "evaluation_results"("run_id");

-- CreateIndex
CREATE INDEX "evaluation_results_status_leased_until_idx" ON "evaluation_results"("status", "leased_until");

-- AddForeignKey
ALTER TABLE "worker_examples" ADD CONSTRAINT "worker_examples_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "evaluations" ADD CONSTRAINT "evaluations_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "evaluation_results" ADD CONSTRAINT "evaluation_results_evaluation_id_fkey" FOREIGN KEY ("evaluation_id") REFERENCES "evaluations"("id") ON DELETE CASCADE ON UPDATE CASCADE;


