import type { ObjectStore } from '@gantry/object-store';
import type { Pool } from 'pg';

export interface FileTreeDeps {
  objects: ObjectStore;
  pool: Pool;
}
