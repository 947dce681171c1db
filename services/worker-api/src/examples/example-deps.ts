import type { RunEngine } from '@gantry/run-engine';
import type { Pool } from 'pg';
import type { PrismaClient } from '../generated/prisma/client';
import type { Models } from '../models/model-registry';
import type { Runnables } from '../runs/runnable';

export interface ExampleDeps {
  prisma: PrismaClient;
  pool: Pool;
  engine: RunEngine;
  runnables: Runnables;
  models: Models;
}
