-- The packages that a version of code was first installed with, for each platform: never changed, see dependency-locks.ts.
-- The code belongs to a worker, and is then named by the sha of the version, or is an artifact, of which there is one version.
CREATE TABLE dependency_locks (
  workspace_id text NOT NULL,
  code_id      text NOT NULL,
  code_version text NOT NULL,
  platform     text NOT NULL,
  packages     json NOT NULL,
  digest       text NOT NULL,
  locked_at    timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, code_id, code_version, platform)
);
