import type { ConnectionDeps } from '../connections/connection-deps';
import type { Masking } from '../secrets/masking';

export interface ConnectionToolDeps extends ConnectionDeps {
  /** Masks secrets in everything that is sent to models and people. */
  masking: Masking;
}
