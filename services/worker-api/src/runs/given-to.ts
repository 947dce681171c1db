/** What the code of a run gets besides its inputs: connections of its worker, and secrets. */
import type { GivenTo } from '@gantry/run-engine';
import { givenSecrets } from '@gantry/vault';
import { createConnectionCredentials } from '../connections/connection-credentials';
import type { Deps } from '../deps';

/** @param whole runs may be handed out while the rest of the service is still being put together */
export function createGivenTo(whole: Promise<Deps>): GivenTo {
  const credentialsOf = createConnectionCredentials();
  return async (run) => {
    const deps = await whole;
    const connections = await credentialsOf(deps, run);
    if ('refused' in connections) return connections;
    const opened = await deps.secrets.open(run.workspaceId, run.spec.secrets);
    const { secrets, credentials } = givenSecrets(opened, { isTest: run.kind === 'test' });
    return { secrets, credentials: [...connections.credentials, ...credentials] };
  };
}
