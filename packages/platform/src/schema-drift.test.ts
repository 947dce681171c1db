import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { createDatabase } from '@gantry/testing';
import { checkoutDir } from './dirs/shared-dir';
import { serviceNames } from './service-names';

test.each(serviceNames)('the migrations of %s lead exactly to its schema.prisma', async (service) => {
  const { url, drop } = await createDatabase(service);
  const cwd = path.join(checkoutDir, 'services', service);
  const prisma = path.join(cwd, 'node_modules/.bin/prisma');
  const diff = ['migrate', 'diff', '--from-config-datasource', '--to-schema', 'prisma/schema.prisma', '--script'];
  const env = {
    ...process.env,
    DATABASE_URL: url,
    PRISMA_SCHEMA_ENGINE_BINARY: path.join(checkoutDir, 'packages/platform/schema-engine.mjs'),
    CHECKPOINT_DISABLE: '1',
  };
  const sql = execFileSync(prisma, diff, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  expect(sql.trim()).toBe('-- This is an empty migration.');
  await drop();
});
