import type { KeyRotation, SecretStore } from '@gantry/vault';
import type { Pool } from 'pg';

export interface SecretDeps {
  pool: Pool;
  secrets: SecretStore;
  keyRotation: KeyRotation;
  now: () => Date;
}
