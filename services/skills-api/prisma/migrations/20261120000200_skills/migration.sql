CREATE TYPE "visibility" AS ENUM ('private', 'unlisted', 'public');

CREATE TABLE "people" (
    "user_id" TEXT NOT NULL,
    "name" TEXT,
    CONSTRAINT "people_pkey" PRIMARY KEY ("user_id")
);

-- array_to_string is not immutable for every type of element; for text it is.
CREATE FUNCTION "skill_names"(title TEXT, tags TEXT[], description TEXT) RETURNS TEXT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN title || ' ' || array_to_string(tags, ' ') || ' ' || description;

-- What is found by: title before tags before description before text. Of the text the first 200,000 characters, because a
-- tsvector holds less than a megabyte.
CREATE FUNCTION "skill_search"(title TEXT, tags TEXT[], description TEXT, body TEXT) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN setweight(to_tsvector('english', title), 'A')
        || setweight(to_tsvector('english', array_to_string(tags, ' ')), 'B')
        || setweight(to_tsvector('english', description), 'C')
        || setweight(to_tsvector('english', left(body, 200000)), 'D');

CREATE TABLE "skills" (
    "id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "body_md" TEXT NOT NULL,
    "visibility" "visibility" NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "content_hash" TEXT NOT NULL,
    "skill_md_digest" TEXT NOT NULL,
    "tags" TEXT[],
    "folder" TEXT,
    "license" TEXT,
    "front_matter" JSONB,
    "views" INTEGER NOT NULL DEFAULT 0,
    "saves" INTEGER NOT NULL DEFAULT 0,
    "uses" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "purged_at" TIMESTAMPTZ(3),
    "search" tsvector GENERATED ALWAYS AS (skill_search("title", "tags", "description", "body_md")) STORED,
    CONSTRAINT "skills_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "skills_slug_key" ON "skills"("slug");
CREATE INDEX "skills_workspace_id_owner_id_created_at_id_idx" ON "skills"("workspace_id", "owner_id", "created_at" DESC, "id" DESC);
CREATE INDEX "skills_deleted_at_idx" ON "skills"("deleted_at");
CREATE INDEX "skills_public" ON "skills"("created_at" DESC, "id" DESC) WHERE "visibility" = 'public' AND "deleted_at" IS NULL;
CREATE INDEX "skills_search" ON "skills" USING gin ("search");

CREATE TABLE "skill_versions" (
    "skill_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "body_md" TEXT NOT NULL,
    "content_hash" TEXT NOT NULL,
    "tags" TEXT[],
    "license" TEXT,
    "message" TEXT,
    "author_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "skill_versions_pkey" PRIMARY KEY ("skill_id", "version")
);

CREATE TABLE "skill_shares" (
    "skill_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "skill_shares_pkey" PRIMARY KEY ("skill_id", "email")
);
CREATE INDEX "skill_shares_email_idx" ON "skill_shares"("email");

CREATE TABLE "skill_saves" (
    "user_id" TEXT NOT NULL,
    "skill_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "skill_saves_pkey" PRIMARY KEY ("user_id", "skill_id")
);
CREATE INDEX "skill_saves_user_id_created_at_idx" ON "skill_saves"("user_id", "created_at" DESC);
CREATE INDEX "skill_saves_skill_id_idx" ON "skill_saves"("skill_id");

CREATE TABLE "skill_overrides" (
    "user_id" TEXT NOT NULL,
    "skill_id" TEXT NOT NULL,
    "folder" TEXT,
    "tags" TEXT[],
    "has_tags" BOOLEAN NOT NULL,
    CONSTRAINT "skill_overrides_pkey" PRIMARY KEY ("user_id", "skill_id")
);
CREATE INDEX "skill_overrides_skill_id_idx" ON "skill_overrides"("skill_id");

CREATE TABLE "libraries" (
    "id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "visibility" "visibility" NOT NULL,
    "starter" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    CONSTRAINT "libraries_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "libraries_slug_key" ON "libraries"("slug");
CREATE INDEX "libraries_workspace_id_owner_id_idx" ON "libraries"("workspace_id", "owner_id");

CREATE TABLE "library_skills" (
    "library_id" TEXT NOT NULL,
    "skill_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "added_by" TEXT NOT NULL,
    "added_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "library_skills_pkey" PRIMARY KEY ("library_id", "skill_id")
);
CREATE INDEX "library_skills_library_id_position_idx" ON "library_skills"("library_id", "position");
CREATE INDEX "library_skills_skill_id_idx" ON "library_skills"("skill_id");

CREATE TABLE "library_subscriptions" (
    "user_id" TEXT NOT NULL,
    "library_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "library_subscriptions_pkey" PRIMARY KEY ("user_id", "library_id")
);
CREATE INDEX "library_subscriptions_library_id_idx" ON "library_subscriptions"("library_id");

CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "workspace_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "pepper_version" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "rotated_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");
CREATE INDEX "api_keys_user_id_idx" ON "api_keys"("user_id");

ALTER TABLE "skills" ADD CONSTRAINT "skills_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "people"("user_id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "skill_versions" ADD CONSTRAINT "skill_versions_skill_id_fkey" FOREIGN KEY ("skill_id") REFERENCES "skills"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "skill_shares" ADD CONSTRAINT "skill_shares_skill_id_fkey" FOREIGN KEY ("skill_id") REFERENCES "skills"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "skill_saves" ADD CONSTRAINT "skill_saves_skill_id_fkey" FOREIGN KEY ("skill_id") REFERENCES "skills"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "skill_overrides" ADD CONSTRAINT "skill_overrides_skill_id_fkey" FOREIGN KEY ("skill_id") REFERENCES "skills"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "libraries" ADD CONSTRAINT "libraries_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "people"("user_id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "library_skills" ADD CONSTRAINT "library_skills_library_id_fkey" FOREIGN KEY ("library_id") REFERENCES "libraries"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "library_skills" ADD CONSTRAINT "library_skills_skill_id_fkey" FOREIGN KEY ("skill_id") REFERENCES "skills"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "library_subscriptions" ADD CONSTRAINT "library_subscriptions_library_id_fkey" FOREIGN KEY ("library_id") REFERENCES "libraries"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Typing errors are forgiven where the server has pg_trgm. A server without it, or an account that may not create it,
-- serves everything else; the service says so when it starts.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX "skills_names" ON "skills" USING gin (skill_names("title", "tags", "description") gin_trgm_ops);
EXCEPTION
    WHEN undefined_file OR insufficient_privilege OR feature_not_supported THEN
        RAISE WARNING 'no pg_trgm: %', SQLERRM;
END
$$;
