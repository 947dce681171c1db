import type { ConnectionDeps } from '../connections/connection-deps';
import type { Masking } from '../secrets/masking';

export interface ConnectionToolDeps extends ConnectionDeps {
  /** Masks secrets in what models and people are sent. */
  masking: Masking;
}
