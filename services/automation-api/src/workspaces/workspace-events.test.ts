import { newId, retentionChanged, workspaceDeleted, workspacePurged, workspaceRestored } from '@gantry/events';
import { setupTestEventPublisher, waitUntil } from '@gantry/testing';
import { testService } from '../test/service';

const service = testService({ inspector: false });
const announcer = setupTestEventPublisher(service);

const sql = (text: string, values: unknown[] = []) => service.api.deps.pool.query(text, values);
const announce = (event: typeof workspaceDeleted, workspaceId: string, purgeAt: number) =>
  announcer.announce(event, workspaceId, { workspaceId, purgeAt });

/** Creates a workspace with a row in every table and a schedule that is due. */
async function seed(): Promise<{ workspaceId: string; automationId: string; key: string }> {
  const workspaceId = newId('ws_');
  const [artifactId, automationId, runId] = [newId('art_'), newId('a'), newId('run_')];
  const key = `${workspaceId}/code/x.zip`;
  await service.api.deps.objects.put(key, Buffer.from('zip'));
  await sql(
    `INSERT INTO artifacts (id, workspace_id, digest, code_key, code_size, entrypoint, manifest, files, file_count, total_size)
     VALUES ($1, $2, 'd', $3, 3, 'main.py', '{}', '[]', 0, 0)`,
    [artifactId, workspaceId, key],
  );
  await sql(
    `INSERT INTO automations (id, workspace_id, name, description, current_version, schedule, schedule_enabled, next_run_at, updated_at)
     VALUES ($1, $2, 'n', '', 1, '0 0 1 1 *', true, now() - interval '1 second', now())`,
    [automationId, workspaceId],
  );
  await sql(
    'INSERT INTO automation_versions (automation_id, version, workspace_id, artifact_id) VALUES ($1, 1, $2, $3)',
    [automationId, workspaceId, artifactId],
  );
  await sql(
    `INSERT INTO runs (id, workspace_id, subject_id, kind, trigger, status, inputs, spec) VALUES ($1, $2, $3, 'run', 'api', 'completed', '{}', '{}')`,
    [runId, workspaceId, automationId],
  );
  await sql("INSERT INTO run_events (run_id, seq, at, type, data) VALUES ($1, 1, now(), 'log', '{}')", [runId]);
  await sql(
    `INSERT INTO run_artifacts (id, run_id, workspace_id, name, content_type, size, sha256, key) VALUES ($1, $2, $3, 'a', 'b', 1, 'c', $4)`,
    [newId('ra_'), runId, workspaceId, `${workspaceId}/runs/${runId}/a`],
  );
  await sql("INSERT INTO secrets (workspace_id, name, version, sealed, updated_at) VALUES ($1, 'A', 1, '', now())", [
    workspaceId,
  ]);
  await sql(
    `INSERT INTO dependency_locks (workspace_id, code_id, code_version, platform, packages, digest)
     VALUES ($1, $2, '', 'p', '[]', 'd')`,
    [workspaceId, artifactId],
  );
  await sql(
    `INSERT INTO dependency_installations (workspace_id, code_id, code_version, id, status) VALUES ($1, $2, '', $3, 'pending')`,
    [workspaceId, artifactId, newId('ins_')],
  );
  await sql('INSERT INTO uploads (storage_key, workspace_id) VALUES ($1, $2)', [`${workspaceId}/u`, workspaceId]);
  await sql("INSERT INTO data_keys (workspace_id, version, kek_version, wrapped_key) VALUES ($1, 1, 'v1', '')", [
    workspaceId,
  ]);
  await sql(
    "INSERT INTO idempotency_keys (scope, operation, key, workspace_id, request_hash) VALUES ($1, 'o', 'k', $1, 'h')",
    [workspaceId],
  );
  await sql('INSERT INTO workspace_closures (workspace_id, purge_at, restored) VALUES ($1, now(), true)', [
    workspaceId,
  ]);
  // The sweep at start-up may have inserted it.
  await sql('INSERT INTO run_retention (workspace_id, run_days) VALUES ($1, 7) ON CONFLICT DO NOTHING', [workspaceId]);
  return { workspaceId, automationId, key };
}

async function rowsByTable(workspaceId: string): Promise<Record<string, number>> {
  const { rows: tables } = await sql(
    `SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'workspace_id'
     AND table_name NOT IN ('outbox', 'published_events')`,
  );
  const counted = await Promise.all(
    tables.map(async ({ table_name }) => {
      const { rowCount } = await sql(`SELECT 1 FROM ${table_name} WHERE workspace_id = $1`, [workspaceId]);
      return [table_name, rowCount ?? 0] as const;
    }),
  );
  return Object.fromEntries(counted);
}

test('a purged workspace leaves nothing behind, in no table and no store, and others keep everything', async () => {
  const [gone, kept] = [await seed(), await seed()];
  const before = await rowsByTable(gone.workspaceId);
  // Fails for a new table, which the purge may not cover.
  expect(Object.entries(before).filter(([, rows]) => rows === 0)).toEqual([]);
  const { workspaceId } = gone;
  await announcer.announce(workspacePurged, workspaceId, { workspaceId });
  await waitUntil(async () => Object.values(await rowsByTable(gone.workspaceId)).every((rows) => rows === 0));
  expect(await rowsByTable(kept.workspaceId)).toEqual(before);
  await expect(service.api.deps.objects.head(gone.key)).resolves.toBeNull();
  await expect(service.api.deps.objects.head(kept.key)).resolves.toEqual({ size: 3 });
});

test('the schedules of a deleted workspace do not fire until it is restored, in whatever order events arrive', async () => {
  const { workspaceId, automationId } = await seed();
  await sql('DELETE FROM workspace_closures');
  const isDue = async () =>
    (await sql('SELECT next_run_at <= now() AS due FROM automations WHERE id = $1', [automationId])).rows[0].due;
  const findRestored = async () =>
    (await sql('SELECT restored FROM workspace_closures WHERE workspace_id = $1', [workspaceId])).rows[0]?.restored;
  const purgeAt = Date.now() + 1_000_000;

  await announce(workspaceDeleted, workspaceId, purgeAt);
  await waitUntil(async () => (await findRestored()) === false);
  await service.api.ticker.tick();
  expect(await isDue()).toBe(true);

  // The restoration arrives before the deletion.
  await announce(workspaceRestored, workspaceId, purgeAt + 5);
  await waitUntil(async () => (await findRestored()) === true);
  await announce(workspaceDeleted, workspaceId, purgeAt + 5);
  const findConsumed = () => sql("SELECT 1 FROM inbox WHERE consumer LIKE '%deleted%'");
  await waitUntil(async () => (await findConsumed()).rowCount === 2);
  await service.api.ticker.tick();
  await waitUntil(async () => !(await isDue()));
  expect(await findRestored()).toBe(true);
});

test('runs are deleted after the retention of their workspace, and a late setting does not overwrite a newer one', async () => {
  const [short, other] = [await seed(), await seed()];
  const announceRetention = (runDays: number, changedAt: number) => {
    const { workspaceId } = short;
    const data = { workspaceId, runDays, logDays: null, runsKept: 0, changedAt };
    return announcer.announce(retentionChanged, workspaceId, data);
  };
  await sql("UPDATE runs SET created_at = now() - interval '8 days', finished_at = now() - interval '8 days'");
  await announceRetention(7, 2_000);
  await announceRetention(90, 1_000);
  const getRetention = async () =>
    (await sql('SELECT run_days, changed_at FROM run_retention WHERE workspace_id = $1', [short.workspaceId])).rows[0];
  await waitUntil(async () => (await getRetention()).changed_at !== null);
  await service.replica();
  const countRuns = async ({ workspaceId }: { workspaceId: string }) =>
    (await sql('SELECT FROM runs WHERE workspace_id = $1', [workspaceId])).rowCount;
  await waitUntil(async () => (await countRuns(short)) === 0);
  expect(await countRuns(other)).toBe(1);
  expect(await getRetention()).toMatchObject({ run_days: 7 });
});
