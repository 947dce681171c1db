import type { Bus } from '@gantry/events';
import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client';
import type { RehearsalDeps } from '../runs/run-deps';
import type { CaseJudge } from './case-judge';

export interface CandidateDeps extends RehearsalDeps {
  prisma: PrismaClient;
  bus: Bus;
  /** Compares the outputs of rehearsals with recorded ones. */
  caseJudge: CaseJudge;
  log: Logger;
}
