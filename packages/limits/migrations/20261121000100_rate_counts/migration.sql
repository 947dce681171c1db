-- Written with SQL by packages/http. Unlogged: after a crash of PostgreSQL everybody begins with a full budget.
CREATE UNLOGGED TABLE "rate_counts" (
    "caller" TEXT NOT NULL,
    "window_number" INTEGER NOT NULL,
    "count" INTEGER NOT NULL,
    "previous" INTEGER NOT NULL,
    CONSTRAINT "rate_counts_pkey" PRIMARY KEY ("caller")
);
CREATE INDEX "rate_counts_by_age" ON "rate_counts"("window_number");
