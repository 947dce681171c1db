import type { WorkLoop } from '@gantry/postgres';
import type { SecretStore } from '@gantry/vault';
import type { Models } from '../models/model-registry';
import type { RehearsalDeps } from '../rehearsals/rehearsal-deps';
import type { Masking } from '../secrets/masking';

export interface EvaluationDeps extends RehearsalDeps {
  models: Models;
  secrets: SecretStore;
  /** Masks secrets in what models are sent. */
  masking: Masking;
  /** Runs and judges examples. */
  evaluationLoop: WorkLoop;
}
