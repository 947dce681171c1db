-- Whether a person has to approve the code before it reaches anything. What is there was written before agents had to ask.
ALTER TABLE "worker_versions" ADD COLUMN "needs_approval" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "worker_candidates" ADD COLUMN "needs_approval" BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE "version_approvals" (
    "worker_uid" TEXT NOT NULL,
    "sha" TEXT NOT NULL,
    "approved_by" TEXT NOT NULL,
    "approved_by_label" TEXT,
    "approved_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "version_approvals_pkey" PRIMARY KEY ("worker_uid", "sha")
);

ALTER TABLE "version_approvals" ADD CONSTRAINT "version_approvals_worker_uid_fkey" FOREIGN KEY ("worker_uid") REFERENCES "workers"("uid") ON DELETE CASCADE ON UPDATE CASCADE;
