-- CreateTable
CREATE TABLE "worker_day_usage" (
    "worker_uid" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "runs" INTEGER NOT NULL,
    "failed" INTEGER NOT NULL,
    "compute_ms" DOUBLE PRECISION NOT NULL,
    "usd" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "worker_day_usage_pkey" PRIMARY KEY ("worker_uid","day")
);

-- AddForeignKey
ALTER TABLE "worker_day_usage" ADD CONSTRAINT "worker_day_usage_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;
