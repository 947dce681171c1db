-- The installation of a version's packages ahead of its first run: the best state that any executor has reported, see
-- dependency-installations.ts. The code is named as in dependency_locks; executors know the installation by its id alone.
CREATE TABLE dependency_installations (
  workspace_id  text NOT NULL,
  code_id       text NOT NULL,
  code_version  text NOT NULL,
  id            text NOT NULL UNIQUE,
  status        text NOT NULL CHECK (status IN ('pending', 'installing', 'installed', 'failed')),
  announcements int NOT NULL DEFAULT 1,
  executor_id   text,
  sequence      bigint,
  platform      text,
  phase         text,
  done          int,
  total         int,
  packages      json,
  error         text,
  started_at    timestamptz(3),
  finished_at   timestamptz(3),
  reported_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, code_id, code_version)
);
CREATE INDEX dependency_installations_unfinished ON dependency_installations (reported_at)
  WHERE status = 'installing' OR (status = 'pending' AND announcements < 3);
