import type { ObjectStore } from '@gantry/object-store';
import type { ConnectionToolDeps } from '../connection-tools/connection-tool-deps';
import type { Runnables } from '../runs/runnable';
import type { Models } from './model-registry';

export interface ModelDeps extends ConnectionToolDeps {
  objects: ObjectStore;
  runnables: Runnables;
  models: Models;
}
