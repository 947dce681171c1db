import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client';
import type { StartRunDeps } from '../runs/run-deps';
import type { OutcomeJudge } from './outcome-judge';

/** Dependencies of every feature that rehearses cases. */
export interface RehearsalDeps extends Omit<StartRunDeps, 'rates'> {
  prisma: PrismaClient;
  /** Judges the outcomes of rehearsals in threads. */
  outcomeJudge: OutcomeJudge;
  log: Logger;
}
