-- Whether code of the workspace may get the values of connections and of secrets with hosts instead of placeholders.
ALTER TABLE "workspaces" ADD COLUMN "allow_exposed_credentials" BOOLEAN NOT NULL DEFAULT true;
