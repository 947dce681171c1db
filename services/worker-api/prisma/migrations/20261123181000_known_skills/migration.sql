-- The newest text of each published skill, so that agents made of an older one can be offered it.
CREATE TABLE "known_skills" (
    "slug" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "visibility" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "content_hash" TEXT NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,
    "is_deleted" BOOLEAN NOT NULL DEFAULT false,
    "revision" INTEGER NOT NULL,

    CONSTRAINT "known_skills_pkey" PRIMARY KEY ("slug")
);

CREATE INDEX "known_skills_workspace_id_idx" ON "known_skills"("workspace_id");
