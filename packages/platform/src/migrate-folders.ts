import path from 'node:path';
import { listMigrationFolders } from '@gantry/postgres';
import { checkoutDir } from './dirs/shared-dir';
import type { ServiceName } from './service-names';

export const listServiceMigrationFolders = (service: ServiceName): string[] =>
  listMigrationFolders(path.join(checkoutDir, 'services', service));
