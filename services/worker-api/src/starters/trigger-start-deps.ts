import type { TokenHasher } from '@gantry/auth';
import type { Vault } from '@gantry/vault';
import type { Logger } from 'pino';
import type { StartRunDeps } from '../runs/run-deps';

export interface TriggerStartDeps extends StartRunDeps {
  vault: Vault;
  /** Checks the secrets of webhooks. */
  hasher: TokenHasher;
  log: Logger;
}
