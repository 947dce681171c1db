import fs from 'node:fs';
import path from 'node:path';
import { checkoutDir } from './dirs/shared-dir';
import type { ServiceName } from './service-names';

/**
 * Folders whose migrations make a service's database: its own, and `migrations/` of every package that it depends on. So
 * the tables of a package are changed by one file, for each service that uses it.
 */
export function migrationFolders(service: ServiceName): string[] {
  const dir = path.join(checkoutDir, 'services', service);
  const { dependencies } = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
  const packages = Object.keys(dependencies).filter((name) => name.startsWith('@gantry/'));
  return [path.join(dir, 'prisma/migrations'), ...packages.map(folderOf).filter(fs.existsSync)];
}

const folderOf = (name: string): string => path.join(checkoutDir, name.replace('@gantry/', 'packages/'), 'migrations');
