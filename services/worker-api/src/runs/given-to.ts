/** What the code of a run gets besides its inputs: connections of its worker, and secrets. */
import type { RunError } from '@gantry/events';
import type { GivenTo } from '@gantry/run-engine';
import { givenSecrets } from '@gantry/vault';
import { createConnectionCredentials } from '../connections/connection-credentials';
import type { Deps } from '../deps';
import { allowsExposure } from '../workers/exposure';

/** @param whole runs may be handed out while the rest of the service is still being put together */
export function createGivenTo(whole: Promise<Deps>): GivenTo {
  const credentialsOf = createConnectionCredentials();
  return async (run) => {
    const deps = await whole;
    const { expose = [] } = run.spec;
    if (expose.length && !(await allowsExposure(deps.prisma, run.workspaceId))) {
      return { refused: exposureForbidden(expose) };
    }
    const connections = await credentialsOf(deps, run);
    if ('refused' in connections) return connections;
    const opened = await deps.secrets.open(run.workspaceId, run.spec.secrets);
    const { secrets, credentials } = givenSecrets(opened, { isTest: run.kind === 'test', exposed: expose });
    return { secrets, credentials: [...connections.credentials, ...credentials] };
  };
}

const exposureForbidden = (names: string[]): RunError => ({
  code: 'missing_connection',
  message: `the setting allow_exposed_credentials of this workspace is off, and the worker exposes ${names.join(', ')} to its code. Take them out of "expose", or let an admin turn the setting on, and run again.`,
});
