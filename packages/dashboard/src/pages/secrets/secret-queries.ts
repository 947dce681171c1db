import { ApiError } from '@gantry/sdk';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../shell/api';
import { loadAllPages } from '../../shell/load-all-pages';
import { useInvalidateQueries } from '../../shell/use-invalidate-queries';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import type { Surface, SurfaceSecret, SurfaceSecrets } from './secret-rows';

const NO_STATE: SurfaceSecret = { setAt: null, lastUsedAt: null, hosts: [], places: [], usedBy: [] };

/** Bounded: a workspace has at most 500 secrets, which is three pages. */
async function loadWorkerSecrets(): Promise<SurfaceSecrets> {
  const [set, declared] = await Promise.all([
    loadAllPages((query) => api.worker.GET('/api/secrets', { params: { query } })),
    loadAllPages((query) => api.worker.GET('/api/secrets/declared', { params: { query } })),
  ]);
  const states = new Map<string, SurfaceSecret>();
  for (const { name, used_by } of declared) states.set(name, { ...NO_STATE, usedBy: used_by });
  for (const { name, hosts, places, updated_at, last_used_at, used_by } of set) {
    const lastUsedAt = last_used_at === null ? null : Date.parse(last_used_at);
    states.set(name, { setAt: Date.parse(updated_at), lastUsedAt, hosts, places, usedBy: used_by });
  }
  return states;
}

async function loadAutomationSecrets(): Promise<SurfaceSecrets> {
  const [set, declared] = await Promise.all([
    loadAllPages(async (query) => (await api.automation.GET('/api/secrets', { params: { query } })).secrets),
    loadAllPages(async (query) => (await api.automation.GET('/api/secrets/declared', { params: { query } })).secrets),
  ]);
  const states = new Map<string, SurfaceSecret>();
  for (const { name, usedBy } of declared) states.set(name, { ...NO_STATE, usedBy });
  for (const { name, hosts, places, updatedAt } of set) {
    states.set(name, { ...(states.get(name) ?? NO_STATE), hosts, places, setAt: updatedAt });
  }
  return states;
}

export const useSecrets = (surface: Surface) =>
  useWorkspaceQuery(
    (workspaceId) => ['secrets', workspaceId, surface],
    surface === 'workers' ? loadWorkerSecrets : loadAutomationSecrets,
  );

interface SecretInput {
  name: string;
  value: string;
  hosts: string[];
  /** Only together with hosts. */
  places?: string[];
}

const setSecretOn: Record<Surface, (input: SecretInput) => Promise<{ warnings?: string[] }>> = {
  workers: ({ name, ...body }) => api.worker.PUT('/api/secrets/{name}', { params: { path: { name } }, body }),
  automations: (body) => api.automation.POST('/api/secrets', { body }),
};

const deleteSecretOn: Record<Surface, (name: string) => Promise<unknown>> = {
  // Forced, because the dialog has listed the workers that declare it.
  workers: (name) => api.worker.DELETE('/api/secrets/{name}', { params: { path: { name }, query: { force: true } } }),
  automations: (name) => api.automation.DELETE('/api/secrets/{name}', { params: { path: { name } } }),
};

/** @throws Error that names the surfaces where the change failed; it is kept on the others */
async function mapSurfaces<T>(surfaces: readonly Surface[], change: (surface: Surface) => Promise<T>): Promise<T[]> {
  const failures: string[] = [];
  const results: T[] = [];
  await Promise.all(
    surfaces.map((surface) =>
      change(surface).then(
        (result) => results.push(result),
        (error: unknown) => failures.push(`For ${surface}: ${formatErrorMessage(error)}`),
      ),
    ),
  );
  if (failures.length) throw new Error(failures.join('\n'));
  return results;
}

function formatErrorMessage(error: unknown): string {
  const [field] = error instanceof ApiError ? error.fields : [];
  if (!field) return error instanceof Error ? error.message : String(error);
  const [name, index] = field.path.split('.');
  const item = name === 'hosts' ? 'host' : name === 'places' ? 'place' : undefined;
  if (!item) return field.message;
  return index === undefined ? `${item}s ${field.message}` : `${item} ${Number(index) + 1} ${field.message}`;
}

/** Changes a secret on the selected surfaces. */
export function useSecretMutations() {
  const onSettled = useInvalidateQueries((workspaceId) => ['secrets', workspaceId]);
  return {
    set: useMutation({
      onSettled,
      mutationFn: async ({ surfaces, ...input }: SecretInput & { surfaces: readonly Surface[] }) => {
        const saved = await mapSurfaces(surfaces, (surface) => setSecretOn[surface](input));
        return { warnings: [...new Set(saved.flatMap(({ warnings = [] }) => warnings))] };
      },
    }),
    remove: useMutation({
      onSettled,
      mutationFn: ({ name, surfaces }: { name: string; surfaces: readonly Surface[] }) =>
        mapSurfaces(surfaces, (surface) => deleteSecretOn[surface](name)),
    }),
  };
}
