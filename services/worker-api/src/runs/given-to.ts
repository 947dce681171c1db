/** What the code of a run gets besides its inputs: connections of its worker, and secrets. */
import type { GivenTo } from '@gantry/run-engine';
import { createConnectionCredentials } from '../connections/connection-credentials';
import type { Deps } from '../deps';

/** @param whole runs may be handed out while the rest of the service is still being put together */
export function createGivenTo(whole: Promise<Deps>): GivenTo {
  const credentialsOf = createConnectionCredentials();
  return async (run) => {
    const deps = await whole;
    const connections = await credentialsOf(deps, run);
    if ('refused' in connections) return connections;
    const secrets = await deps.secrets.reveal(run.workspaceId, run.spec.secrets);
    return { secrets, credentials: connections.credentials };
  };
}
