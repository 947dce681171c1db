import type { SecretStore } from '@gantry/vault';
import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client';
import type { Models } from '../models/model-registry';
import type { RehearsalDeps } from '../runs/run-deps';
import type { Masking } from '../secrets/masking';
import type { EvaluationLoop } from './evaluation';

export interface EvaluationDeps extends RehearsalDeps {
  prisma: PrismaClient;
  models: Models;
  secrets: SecretStore;
  /** Masks secrets in what models are sent. */
  masking: Masking;
  /** Runs and judges examples. */
  evaluationLoop: EvaluationLoop;
  log: Logger;
}
