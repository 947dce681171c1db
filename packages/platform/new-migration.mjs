#!/usr/bin/env node
/**
 * Begins a migration. For a service: writes the SQL that leads from its migrations, and those of its packages, to its
 * schema.prisma, for its author to read and correct by hand. For a package, whose tables no schema.prisma describes: an
 * empty file, which will be applied for every service that depends on the package.
 * Usage: pnpm migration <service | package> <name>
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import platform from './dist/index.js';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const [owner, name] = process.argv.slice(2);
const serviceDir = path.join(root, 'services', owner ?? '');
const packageDir = path.join(root, 'packages', owner ?? '');
const isPackage = Boolean(owner) && fs.existsSync(path.join(packageDir, 'package.json'));
const isService = platform.serviceNames.includes(owner);
if (!/^[a-z0-9_]+$/.test(name ?? '') || !(isPackage || isService)) {
  const services = platform.serviceNames.join(' | ');
  process.stderr.write(`usage: pnpm migration <${services} | a package, such as run-engine> <name_in_snake_case>\n`);
  process.exit(1);
}
if (isPackage) {
  writeMigration(path.join(packageDir, 'migrations'), '');
  process.exit();
}

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-migration-'));
const options = {
  dataDir: path.join(dir, 'postgres'),
  port: await platform.findFreePort(),
  password: randomBytes(12).toString('hex'),
  durable: false,
};
const server = await platform.startAndWait(await platform.buildPostgresSpec(options));
try {
  const url = platform.buildPostgresUrl(options, 'postgres');
  await platform.migrate(url, ...platform.listServiceMigrationFolders(owner));
  const { stdout, status } = spawnSync(
    path.join(serviceDir, 'node_modules/.bin/prisma'),
    ['migrate', 'diff', '--from-config-datasource', '--to-schema', 'prisma/schema.prisma', '--script'],
    {
      cwd: serviceDir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        DATABASE_URL: url,
        PRISMA_SCHEMA_ENGINE_BINARY: path.join(root, 'packages/platform/schema-engine.mjs'),
        CHECKPOINT_DISABLE: '1',
      },
    },
  );
  if (status !== 0) process.exitCode = 1;
  else if (stdout.trim() === '-- This is an empty migration.') {
    process.stdout.write('the migrations agree with schema.prisma: nothing to write\n');
  } else writeMigration(path.join(serviceDir, 'prisma/migrations'), stdout);
} finally {
  await server.kill();
  fs.rmSync(dir, { recursive: true, force: true });
}

function writeMigration(dir, sql) {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const file = path.join(dir, `${stamp}_${name}`, 'migration.sql');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, sql);
  const todo = sql ? 'read and correct it' : 'write it by hand';
  process.stdout.write(`${path.relative(root, file)}: ${todo} before you commit it\n`);
}
