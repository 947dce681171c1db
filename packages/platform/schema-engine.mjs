#!/usr/bin/env node
/**
 * Prisma's schema engine for authoring migrations where its binary can't be downloaded: the JSON-RPC that `prisma migrate`
 * speaks over stdio, answered by the engine's WebAssembly build over the pg driver adapter. Never used at run time.
 *
 * Usage: PRISMA_SCHEMA_ENGINE_BINARY=<this file> prisma migrate dev|diff|status|deploy
 *
 * Bound to one version of Prisma: it works around three gaps of the adapter (catalogue types `char` and `name` are read as
 * unknown, `?schema=` in addresses is refused, shadow databases are left to the caller).
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import * as wasm from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import { parse } from 'pg-connection-string';

const { datamodels, datasource, command } = parseArguments(process.argv.slice(2));

function parseArguments(argv) {
  const found = { datamodels: [], datasource: {}, command: undefined };
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === '--datamodels') found.datamodels.push([argv[++i], readFileSync(argv[i], 'utf8')]);
    else if (argv[i] === '--datasource') found.datasource = JSON.parse(argv[++i]);
    else if (argv[i] === 'cli') found.command = argv[++i];
    else if (argv[i].startsWith('--')) i++;
  }
  return found;
}

/** The address as pg understands it, and the schema that Prisma puts into its query string. */
function splitSchemaParameter(databaseUrl) {
  const url = new URL(databaseUrl);
  const schema = url.searchParams.get('schema') ?? undefined;
  url.searchParams.delete('schema');
  return { connectionString: url.toString(), schema };
}

const getDatabaseName = () => decodeURIComponent(new URL(datasource.url).pathname.slice(1));

async function query(connectionString, sql) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

function runDatabaseCommand(verb, name) {
  const url = new URL(splitSchemaParameter(datasource.url).connectionString);
  url.pathname = '/postgres';
  return query(url.toString(), `${verb} "${name.replaceAll('"', '""')}"`);
}

async function runCommand() {
  try {
    if (command === 'can-connect-to-database')
      await query(splitSchemaParameter(datasource.url).connectionString, 'SELECT 1');
    else
      await runDatabaseCommand(command === 'create-database' ? 'CREATE DATABASE' : 'DROP DATABASE', getDatabaseName());
  } catch (err) {
    const code = { '3D000': 'P1003', '28P01': 'P1000', 28000: 'P1000' }[err.code] ?? 'P1001';
    const fields = { message: err.message || String(err.code), is_panic: false, error_code: code };
    const line = { timestamp: new Date().toISOString(), level: 'ERROR', fields, target: 'schema_engine::logger' };
    process.stderr.write(`\n${JSON.stringify(line)}\n`);
    process.exit(1);
  }
}

const PG_CHAR = 18;
const PG_NAME = 19;
const PG_TEXT = 25;

/** The catalogue's own types: the adapter refuses both, the engine expects text for `name` and one character for `char`. */
function patchCatalogueTypes(connection) {
  const run = connection.client.query.bind(connection.client);
  const queryRaw = connection.queryRaw.bind(connection);
  let characters = new Set();
  connection.client.query = async (...args) => {
    const result = await run(...args);
    characters = new Set();
    for (const field of [result].flat().flatMap(({ fields }) => fields ?? [])) {
      if (field.dataTypeID === PG_CHAR) characters.add(field.name);
      if (field.dataTypeID === PG_CHAR || field.dataTypeID === PG_NAME) field.dataTypeID = PG_TEXT;
    }
    return result;
  };
  connection.queryRaw = async (params) => {
    const result = await queryRaw(params);
    const columnTypes = result.columnTypes.map((type, index) =>
      characters.has(result.columnNames[index]) ? ColumnTypeEnum.Character : type,
    );
    return { ...result, columnTypes };
  };
  return connection;
}

class CatalogueAdapter extends PrismaPg {
  async connect() {
    return patchCatalogueTypes(await super.connect());
  }

  async connectToShadowDb() {
    if (datasource.shadowDatabaseUrl) {
      const { connectionString, schema } = splitSchemaParameter(datasource.shadowDatabaseUrl);
      return patchCatalogueTypes(await new PrismaPg({ connectionString }, { schema }).connect());
    }
    const database = `prisma_migrate_shadow_db_${randomUUID()}`;
    await runDatabaseCommand('CREATE DATABASE', database);
    const { connectionString } = splitSchemaParameter(datasource.url);
    const connection = patchCatalogueTypes(await new PrismaPg({ ...parse(connectionString), database }).connect());
    const dispose = connection.dispose.bind(connection);
    connection.dispose = async () => {
      await dispose();
      await runDatabaseCommand('DROP DATABASE IF EXISTS', database);
    };
    return connection;
  }
}

async function startEngine() {
  const require = createRequire(import.meta.url);
  const directory = path.dirname(require.resolve('@prisma/schema-engine-wasm'));
  const bytes = readFileSync(path.join(directory, 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': wasm });
  wasm.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  globalThis.PRISMA_WASM_PANIC_REGISTRY = {
    message: '',
    set_message(value) {
      this.message = value;
    },
  };
  const { connectionString, schema } = splitSchemaParameter(datasource.url || 'postgresql://127.0.0.1/none');
  const adapter = new CatalogueAdapter(parse(connectionString), { schema });
  return wasm.SchemaEngine.new(
    { datamodels: datamodels.length ? datamodels : undefined },
    () => {},
    bindMigrationAwareSqlAdapterFactory(adapter),
  );
}

const writeMessage = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

let engine;
/** Ids of the requests that the engine makes of its client lie above those of the client. */
let requestId = 1_000_000;

async function callEngineMethod(method, params) {
  engine ??= await startEngine();
  if (method === 'getDatabaseVersion') return engine.version(params);
  if (method === 'createDatabase') {
    await runDatabaseCommand('CREATE DATABASE', getDatabaseName());
    return { databaseName: getDatabaseName() };
  }
  if (typeof engine[method] !== 'function') throw new Error(`the schema engine has no method ${method}`);
  const result = await engine[method](params);
  if (method === 'diff' && result.stdout) {
    writeMessage({ id: ++requestId, method: 'print', params: { content: result.stdout } });
  }
  return result ?? null;
}

function toErrorData(err) {
  try {
    return JSON.parse(err.message);
  } catch {
    return { is_panic: false, message: err.message ?? String(err), meta: null, error_code: err.code };
  }
}

async function handleRequest({ id, method, params }) {
  try {
    writeMessage({ id, result: await callEngineMethod(method, params) });
  } catch (err) {
    writeMessage({
      id,
      error: { code: 4466, message: 'An error happened. Check the data field for details.', data: toErrorData(err) },
    });
  }
}

if (command) {
  await runCommand();
} else {
  // One at a time, as the engine itself does.
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (message.method) await handleRequest(message);
  }
}
process.exit(0);
