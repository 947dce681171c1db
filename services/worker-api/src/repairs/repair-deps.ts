import type { WorkspaceClosures } from '@gantry/events';
import type { RetentionBounds } from '@gantry/run-engine';
import type { SecretStore } from '@gantry/vault';
import type { CandidateDeps } from '../candidates/candidate-deps';
import type { Models } from '../models/model-registry';
import type { Masking } from '../secrets/masking';

export interface RepairDeps extends CandidateDeps {
  closures: WorkspaceClosures;
  retention: RetentionBounds;
  models: Models;
  secrets: SecretStore;
  /** Masks secrets in what models are sent. */
  masking: Masking;
}
