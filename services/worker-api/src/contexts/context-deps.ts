import type { RunEngine } from '@gantry/run-engine';
import type { Logger } from 'pino';
import type { FileTreeDeps } from '../file-trees/file-tree-deps';
import type { PrismaClient } from '../generated/prisma/client';

export interface ContextDeps extends FileTreeDeps {
  prisma: PrismaClient;
  engine: RunEngine;
  now: () => Date;
  log: Logger;
}
