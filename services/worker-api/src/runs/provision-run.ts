/** Provides the code of a run with the connections of its worker and its secrets. */
import type { RunError } from '@gantry/events';
import type { LoadRunSecrets } from '@gantry/run-engine';
import { loadRunSecrets } from '@gantry/vault';
import { isExposureAllowed } from '../accounts/workspaces/workspace-repository';
import { createConnectionCredentials } from '../connections/connection-credentials';
import type { ConnectionDeps } from '../connections/connection-deps';

/** @param depsPromise resolves after runs may already be dispatched */
export function createRunProvisioner(depsPromise: Promise<ConnectionDeps>): LoadRunSecrets {
  const loadCredentials = createConnectionCredentials();
  return async (run) => {
    const deps = await depsPromise;
    const { expose = [] } = run.spec;
    if (expose.length && !(await isExposureAllowed(deps.prisma, run.workspaceId))) {
      return { refused: buildExposureError(expose) };
    }
    const connections = await loadCredentials(deps, run);
    if ('refused' in connections) return connections;
    // A worker has to name what it sends in bodies.
    const spec = { ...run.spec, inBody: run.spec.inBody ?? [] };
    const runSecrets = await loadRunSecrets(deps, { ...run, spec });
    if ('refused' in runSecrets) return runSecrets;
    return { ...runSecrets, credentials: [...connections.credentials, ...runSecrets.credentials] };
  };
}

const buildExposureError = (names: string[]): RunError => ({
  code: 'missing_connection',
  message: `the workspace setting allow_exposed_credentials is off, but the worker exposes ${names.join(', ')} to its code. Remove them from "expose", or have an admin turn the setting on, and then run the worker again.`,
});
