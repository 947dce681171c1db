-- Workers whose text is a copy of a skill, and the order of a skill's changes for those who hear of them.
ALTER TABLE "skills" ADD COLUMN "revision" INTEGER NOT NULL DEFAULT 1;

CREATE TABLE "skill_pins" (
    "worker_uid" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "skill_id" TEXT,
    "content_hash" TEXT,
    "revision" INTEGER NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "skill_pins_pkey" PRIMARY KEY ("worker_uid")
);

CREATE INDEX "skill_pins_skill_id_workspace_id_idx" ON "skill_pins"("skill_id", "workspace_id");

CREATE INDEX "skill_pins_workspace_id_idx" ON "skill_pins"("workspace_id");

ALTER TABLE "skill_pins" ADD CONSTRAINT "skill_pins_skill_id_fkey" FOREIGN KEY ("skill_id") REFERENCES "skills"("id") ON DELETE CASCADE ON UPDATE CASCADE;
