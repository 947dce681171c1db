#!/usr/bin/env node
/**
 * Writes the SQL that leads from a service's migrations to its schema.prisma, for somebody to read and correct by hand.
 * Usage: pnpm migration <service> <name>
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import platform from './dist/index.js';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const [service, name] = process.argv.slice(2);
const serviceDir = path.join(root, 'services', service ?? '');
const migrations = path.join(serviceDir, 'prisma/migrations');
if (!/^[a-z0-9_]+$/.test(name ?? '') || !fs.existsSync(path.join(serviceDir, 'prisma/schema.prisma'))) {
  process.stderr.write('usage: pnpm migration <worker-api | automation-api | skills-api> <name_in_snake_case>\n');
  process.exit(1);
}

const port = await new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-migration-'));
const options = {
  dataDir: path.join(dir, 'postgres'),
  port,
  password: randomBytes(12).toString('hex'),
  durable: false,
};
const server = await platform.startAndWait(await platform.postgresProcess(options));
try {
  const url = platform.postgresUrl(options, 'postgres');
  await platform.migrate(url, migrations);
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
  else write(stdout);
} finally {
  await server.kill();
  fs.rmSync(dir, { recursive: true, force: true });
}

function write(sql) {
  if (sql.trim() === '-- This is an empty migration.') {
    process.stdout.write('the migrations agree with schema.prisma: nothing to write\n');
    return;
  }
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const file = path.join(migrations, `${stamp}_${name}`, 'migration.sql');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, sql);
  process.stdout.write(`${path.relative(root, file)}: read and correct it before you commit it\n`);
}
