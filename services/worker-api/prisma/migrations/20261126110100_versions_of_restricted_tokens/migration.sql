-- The only workers that runs of a version may call, where a token that is for named workers wrote its files.
ALTER TABLE "worker_versions" ADD COLUMN     "only_workers" JSONB;
