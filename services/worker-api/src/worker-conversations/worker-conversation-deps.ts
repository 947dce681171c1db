import type { PrismaClient } from '../generated/prisma/client';
import type { StartRunDeps } from '../runs/run-deps';

export interface WorkerConversationDeps extends StartRunDeps {
  prisma: PrismaClient;
}
