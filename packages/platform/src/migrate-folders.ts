import path from 'node:path';
import { migrationFoldersOf } from '@gantry/postgres';
import { checkoutDir } from './dirs/shared-dir';
import type { ServiceName } from './service-names';

export const migrationFolders = (service: ServiceName): string[] =>
  migrationFoldersOf(path.join(checkoutDir, 'services', service));
