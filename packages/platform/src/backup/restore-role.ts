/**
 * The role that fills the databases of a restore. It owns them until the end and is no superuser, so that a statement
 * that a backup smuggles in reaches neither files nor programs of the server.
 */
import { randomBytes } from 'node:crypto';
import { createDatabaseIfMissing } from '../create-database';
import { withClient } from '../postgres/with-client';
import { databases, type ServiceName, serviceNames } from '../service-names';
import type { GetDatabaseUrl } from './temporary-postgres';

const ROLE = 'gantry_restore';

/** Makes the databases, too. @param superuser addresses for a superuser of a server without other users */
export async function createRestoreRole(superuser: GetDatabaseUrl) {
  const password = randomBytes(24).toString('base64url');
  for (const service of serviceNames) await createDatabaseIfMissing(superuser(service));
  await runStatements(superuser('worker-api'), [
    `CREATE ROLE ${ROLE} LOGIN NOSUPERUSER PASSWORD '${password}'`,
    `GRANT SET ON PARAMETER session_replication_role TO ${ROLE}`,
    ...serviceNames.map((service) => `ALTER DATABASE ${databases[service].name} OWNER TO ${ROLE}`),
  ]);
  return {
    addressOf: (service: ServiceName) => {
      const url = new URL(superuser(service));
      url.username = ROLE;
      url.password = password;
      return url.href;
    },
    /** Gives what it owns to the superuser, and removes it. */
    remove: async () => {
      for (const service of serviceNames) {
        await runStatements(superuser(service), [`REASSIGN OWNED BY ${ROLE} TO CURRENT_USER`, `DROP OWNED BY ${ROLE}`]);
      }
      await runStatements(superuser('worker-api'), [`DROP ROLE ${ROLE}`]);
    },
  };
}

const runStatements = (url: string, statements: string[]): Promise<void> =>
  withClient({ connectionString: url }, async (client) => {
    for (const statement of statements) await client.query(statement);
  });
