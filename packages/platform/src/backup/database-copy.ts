/**
 * A database as the text of COPY, and back. The PostgreSQL that npm brings has no pg_dump: the shape of the tables
 * comes from the migrations that had been applied, which stay in the code for ever.
 */
import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from, to } from 'pg-copy-streams';
import { z } from 'zod';
import { MIGRATION_LOCK, migrateTo } from '../migrate';
import type { ServiceName } from '../service-names';

/** The most of a table that is in memory at once, unless a single row is larger. */
const CHUNK_BYTES = 4 << 20;
const LINE_FEED = 10;

/** As quote_ident() writes it. */
const identifier = z.string().regex(/^(?:[a-z_][a-z0-9_$]{0,62}|"(?:[^"]|""){1,126}")$/);
const name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);
/** As pg_get_expr() writes it for a range of one column. */
const bound = z
  .string()
  .regex(/^(?:DEFAULT|FOR VALUES FROM \((?:MINVALUE|'[\w:.+ -]{1,64}')\) TO \((?:MAXVALUE|'[\w:.+ -]{1,64}')\))$/);

/** Read from files of strangers, and a part of statements: nothing in it is more than a name, a number or a bound. */
export const databaseShape = z.strictObject({
  migrations: z.array(z.string().max(255)),
  tables: z.array(z.strictObject({ name, columns: z.array(identifier) })),
  partitions: z.array(z.strictObject({ name, parent: name, bound })),
  sequences: z.array(z.strictObject({ name, value: z.string().regex(/^-?\d{1,19}$/) })),
});
export type DatabaseShape = z.infer<typeof databaseShape>;

export type Snapshot = Awaited<ReturnType<typeof takeSnapshot>>;

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: 'gantry-backup' });
  // A query in progress fails as well, and tells.
  client.on('error', () => {});
  await client.connect();
  return client;
}

interface Database {
  service: ServiceName;
  url: string;
}

/**
 * Snapshots of all these databases, taken within milliseconds. No migration of one begins before its snapshot has
 * ended.
 */
export async function takeSnapshots(databases: Database[]): Promise<Snapshot[]> {
  const clients = await Promise.all(
    databases.map(async (database) => {
      const client = await connect(database.url);
      await client.query('SELECT pg_advisory_lock_shared($1)', [MIGRATION_LOCK]);
      return { ...database, client };
    }),
  );
  return Promise.all(clients.map(takeSnapshot));
}

const TABLES = `SELECT c.relname AS name,
    (SELECT array_agg(quote_ident(attname) ORDER BY attnum) FROM pg_attribute a
      WHERE a.attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
  FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`;
const PARTITIONS = `SELECT c.relname AS name, p.relname AS parent, pg_get_expr(c.relpartbound, c.oid) AS bound
  FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid JOIN pg_class p ON p.oid = inhparent
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 1`;
// Sequences belong to no snapshot. Read after it was taken, they are not behind its rows.
const SEQUENCES = `SELECT sequencename AS name, last_value::text AS value FROM pg_sequences
  WHERE schemaname = 'public' AND last_value IS NOT NULL`;
const SEQUENCE_NAMES = "SELECT sequencename AS name FROM pg_sequences WHERE schemaname = 'public'";
const PARTITIONED = `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'p'`;
const MIGRATIONS = 'SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL ORDER BY 1';

async function takeSnapshot({ service, url, client }: Database & { client: Client }) {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const { snapshot } = (await client.query('SELECT pg_export_snapshot() AS snapshot')).rows[0];
  const queryRows = async (sql: string) => (await client.query(sql)).rows;
  const shape: DatabaseShape = {
    migrations: (await queryRows(MIGRATIONS)).map(({ name }) => name),
    tables: await queryRows(TABLES),
    partitions: await queryRows(PARTITIONS),
    sequences: await queryRows(SEQUENCES),
  };
  const reader = await connect(url);
  return {
    service,
    shape,
    /** A table's rows, in pieces that end with a row. */
    async *rows({ name, columns }: DatabaseShape['tables'][number]) {
      // A transaction for each table, so that none stays locked: dropping an old partition would wait for the end.
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      await reader.query(`SET TRANSACTION SNAPSHOT ${reader.escapeLiteral(snapshot)}`);
      yield* splitAtRows(
        reader.query(to(`COPY (SELECT ${columns.join(', ')} FROM ${reader.escapeIdentifier(name)}) TO STDOUT`)),
      );
      await reader.query('COMMIT');
    },
    end: async () => {
      await Promise.all([reader.end(), client.end()]);
    },
  };
}

/** COPY ends each row with a line feed, and escapes those inside. */
async function* splitAtRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let piece: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    const end = bytes + chunk.length < CHUNK_BYTES ? 0 : chunk.lastIndexOf(LINE_FEED) + 1;
    if (end) {
      yield Buffer.concat([...piece, chunk.subarray(0, end)]);
      piece = [];
      bytes = 0;
    }
    piece.push(chunk.subarray(end));
    bytes += chunk.length - end;
  }
  if (bytes) yield Buffer.concat(piece);
}

export type Loader = Awaited<ReturnType<typeof openLoader>>;

const unquote = (column: string): string =>
  column.startsWith('"') ? column.slice(1, -1).replaceAll('""', '"') : column;

/**
 * Gives an empty database the tables that another had, to be filled: until the commit it stays empty.
 * @param folders of all migrations
 * @throws Error for a table, column, partition or sequence that those migrations do not make
 */
export async function openLoader(url: string, shape: DatabaseShape, folders: string[]) {
  await migrateTo(url, (name) => shape.migrations.includes(name), ...folders);
  const client = await connect(url);
  const id = client.escapeIdentifier.bind(client);
  const columnsByTable = await prepareDatabase(client, shape).catch(async (err) => {
    await client.end();
    throw err;
  });
  return {
    /** Adds rows to a table. */
    load: (name: string, piece: AsyncIterable<Buffer>) => {
      const columns = columnsByTable.get(name);
      if (!columns) throw new Error(`the backup has rows for a table, ${name}, that it does not describe`);
      return pipeline(piece, client.query(from(`COPY ${id(name)} (${columns.map(id).join(', ')}) FROM STDIN`)));
    },
    commit: async () => {
      await client.query(WITHOUT_STREAMS);
      await client.query('COMMIT');
      await client.query('ANALYZE');
    },
    /** Ends its connection. What is not committed by then is gone. */
    close: () => client.end(),
  };
}

/** Opens the transaction in which tables are filled. @returns the columns of each table, by its name */
async function prepareDatabase(client: Client, shape: DatabaseShape): Promise<Map<string, string[]>> {
  const id = client.escapeIdentifier.bind(client);
  const columnsByTable = await checkColumns(client, shape);
  await client.query('BEGIN');
  // Rows of one snapshot refer to each other as they should, and no trigger is to react to what happened long ago.
  await client.query('SET LOCAL session_replication_role = replica');
  for (const { name } of (await client.query(PARTITIONS)).rows) await client.query(`DROP TABLE ${id(name)}`);
  for (const { name, parent, bound } of shape.partitions) {
    await client.query(`CREATE TABLE ${id(name)} PARTITION OF ${id(parent)} ${bound}`);
  }
  // Migrations insert rows too.
  if (columnsByTable.size) await client.query(`TRUNCATE ${[...columnsByTable.keys()].map(id).join(', ')}`);
  for (const { name, value } of shape.sequences)
    await client.query('SELECT setval($1::regclass, $2)', [id(name), value]);
  return columnsByTable;
}

/**
 * NATS is in no backup: reports that its streams held are lost, so every run under way counts as begun (ADR 60). The
 * services would find that too, and take it for a fault. An older backup has no such table.
 */
const WITHOUT_STREAMS = `DO $$ BEGIN
  IF to_regclass('run_streams') IS NOT NULL THEN
    UPDATE runs SET confirmed = true WHERE status = 'running' AND NOT confirmed;
    DELETE FROM run_streams;
  END IF;
END $$`;

/** The columns of each table, by its name. */
async function checkColumns(client: Client, shape: DatabaseShape): Promise<Map<string, string[]>> {
  const { rows } = await client.query<DatabaseShape['tables'][number]>(TABLES);
  const known = new Map(rows.map(({ name, columns }) => [name, new Set(columns.map(unquote))]));
  const columnsByTable = new Map(shape.tables.map(({ name, columns }) => [name, columns.map(unquote)]));
  const sequences = new Set((await client.query(SEQUENCE_NAMES)).rows.map(({ name }) => name));
  const parents = new Set((await client.query(PARTITIONED)).rows.map(({ name }) => name));
  const unknown = [
    ...[...columnsByTable].flatMap(([table, columns]) =>
      columns.filter((column) => !known.get(table)?.has(column)).map((column) => `${table}.${column}`),
    ),
    ...[...columnsByTable.keys()].filter((table) => !known.has(table)),
    ...shape.partitions.filter(({ parent }) => !parents.has(parent)).map(({ parent }) => parent),
    ...shape.sequences.filter(({ name }) => !sequences.has(name)).map(({ name }) => name),
  ];
  if (unknown.length)
    throw new Error(
      `the backup names tables, columns or sequences its migrations do not create: ${unknown.slice(0, 5).join(', ')}`,
    );
  return columnsByTable;
}
