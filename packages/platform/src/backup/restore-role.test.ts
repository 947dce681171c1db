import { buildPostgresUrl } from '../postgres/postgres';
import { databases, type ServiceName } from '../service-names';
import { queryDatabase } from '../test/query-database';
import { setupPostgres } from '../test/setup-postgres';
import { createRestoreRole } from './restore-role';

const server = setupPostgres('of-the-superuser');

const getSuperuserUrl = (service: ServiceName) => buildPostgresUrl(server.options, databases[service].name);

test('a restore fills its databases as a role that reaches neither files nor programs, and leaves only its tables', async () => {
  const role = await createRestoreRole(getSuperuserUrl);
  const address = role.addressOf('worker-api');
  const [session] = await queryDatabase(
    address,
    'SELECT rolsuper, rolcreaterole, rolbypassrls FROM pg_roles WHERE rolname = current_user',
  );
  expect(session).toEqual({ rolsuper: false, rolcreaterole: false, rolbypassrls: false });
  await queryDatabase(address, 'CREATE TABLE filled (line text)');
  for (const statement of [
    "COPY filled FROM PROGRAM 'id'",
    "COPY filled FROM '/etc/passwd'",
    "COPY filled TO '/tmp/gantry-restored'",
    "SELECT pg_read_file('/etc/passwd')",
    'ALTER ROLE CURRENT_USER SUPERUSER',
  ]) {
    await expect(queryDatabase(address, statement)).rejects.toThrow(/permission denied|must be superuser/);
  }
  await role.remove();
  await expect(queryDatabase(address, 'SELECT 1')).rejects.toThrow(/authentication failed|does not exist/);
  const [table] = await queryDatabase(
    getSuperuserUrl('worker-api'),
    "SELECT tableowner FROM pg_tables WHERE tablename = 'filled'",
  );
  expect(table).not.toMatchObject({ tableowner: 'gantry_restore' });
  expect(
    await queryDatabase(getSuperuserUrl('worker-api'), "SELECT 1 FROM pg_roles WHERE rolname = 'gantry_restore'"),
  ).toEqual([]);
});
