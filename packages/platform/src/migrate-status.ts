import { getMigrationStatus, type MigrationStatus, readMigrations } from '@gantry/postgres';
import { withClient } from './postgres/with-client';

/** Changes nothing, and waits for no lock. */
export async function reportMigrations(url: string, ...dirs: string[]) {
  return withClient({ connectionString: url, application_name: 'gantry-migrate' }, async (client) => {
    const status = await getMigrationStatus(client, readMigrations(dirs));
    const states = Object.entries(status) as [keyof MigrationStatus, string[]][];
    const isListed = (state: keyof MigrationStatus, name: string) =>
      state !== 'applied' || !(status.changed.includes(name) || status.unknown.includes(name));
    return {
      /** `<state> <migration>`, each with a line of its own, and a last line that sums up. */
      lines: [
        ...states.flatMap(([state, names]) =>
          names.filter((name) => isListed(state, name)).map((name) => `${state.padEnd(7)} ${name}`),
        ),
        summarizeStatus(status),
      ],
      /** 0: this code can work with the database; 1: migrations are pending; 2: one was changed after it was applied. */
      exitCode: status.changed.length ? 2 : status.pending.length ? 1 : 0,
    };
  });
}

function summarizeStatus({ pending, changed, unknown }: MigrationStatus): string {
  if (changed.length) return 'applied migrations were changed: restore the files, and write new migrations instead';
  if (pending.length) return `${pending.length} pending: run "migrate"`;
  if (unknown.length) return 'this code is older than the database, as expected after a rollback';
  return 'up to date';
}
