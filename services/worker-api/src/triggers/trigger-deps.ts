import type { TokenHasher } from '@gantry/auth';
import type { Vault } from '@gantry/vault';

export interface TriggerDeps {
  /** Hashes the secrets in the addresses of webhooks. */
  hasher: TokenHasher;
  vault: Vault;
  /** Public address of the worker surface, without a slash at the end. */
  baseUrl: string;
}
