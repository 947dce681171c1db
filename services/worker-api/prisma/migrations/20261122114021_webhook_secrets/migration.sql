-- The secrets of a webhook belong to its trigger, and go with it. Values that are sealed for `workers` stay so: their
-- associated data names the worker's uid, and a worker has one webhook at most.
-- One step, with both tables locked: an instance of before that still runs can't write a secret that would be left behind.
-- What it does with workers fails until it is replaced.
LOCK TABLE "workers", "worker_triggers" IN ACCESS EXCLUSIVE MODE;

ALTER TABLE "worker_triggers" ADD COLUMN "webhook_hash" BYTEA,
  ADD COLUMN "webhook_pepper_version" TEXT,
  ADD COLUMN "webhook_signing_key" BYTEA;

UPDATE "worker_triggers" t SET "webhook_hash" = w."webhook_hash", "webhook_pepper_version" = w."webhook_pepper_version",
    "webhook_signing_key" = w."webhook_signing_key"
  FROM "workers" w WHERE w."uid" = t."worker_uid" AND t."type" = 'webhook';

ALTER TABLE "workers" DROP COLUMN "webhook_hash", DROP COLUMN "webhook_pepper_version", DROP COLUMN "webhook_signing_key";
