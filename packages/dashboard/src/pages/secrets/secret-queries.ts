import { ApiError, unwrap } from '@gantry/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, workerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import type { SecretsThere, SecretThere, Surface } from './secret-rows';

const PAGE_SIZE = 200;

/** Loads all pages. Bounded: a workspace has at most 500 secrets, which is three pages. */
async function all<Item>(page: (offset: number) => Promise<Item[]>): Promise<Item[]> {
  const items: Item[] = [];
  for (;;) {
    const more = await page(items.length);
    items.push(...more);
    if (more.length < PAGE_SIZE) return items;
  }
}

const NOTHING: SecretThere = { setAt: null, lastUsedAt: null, hosts: [], places: [], usedBy: [] };

async function readWorkers(): Promise<SecretsThere> {
  const worker = await workerApi();
  const at = (offset: number) => ({ params: { query: { limit: PAGE_SIZE, offset } } });
  const [set, declared] = await Promise.all([
    all((offset) => unwrap(worker.GET('/api/secrets', at(offset)))),
    all((offset) => unwrap(worker.GET('/api/secrets/declared', at(offset)))),
  ]);
  const there = new Map<string, SecretThere>();
  for (const { name, used_by } of declared) there.set(name, { ...NOTHING, usedBy: used_by });
  for (const { name, hosts, places, updated_at, last_used_at, used_by } of set) {
    const lastUsedAt = last_used_at === null ? null : Date.parse(last_used_at);
    there.set(name, { setAt: Date.parse(updated_at), lastUsedAt, hosts, places, usedBy: used_by });
  }
  return there;
}

async function readAutomations(): Promise<SecretsThere> {
  const at = (offset: number) => ({ params: { query: { limit: PAGE_SIZE, offset } } });
  const [set, declared] = await Promise.all([
    all(async (offset) => (await unwrap(api.GET('/api/secrets', at(offset)))).secrets),
    all(async (offset) => (await unwrap(api.GET('/api/secrets/declared', at(offset)))).secrets),
  ]);
  const there = new Map<string, SecretThere>();
  for (const { name, usedBy } of declared) there.set(name, { ...NOTHING, usedBy });
  for (const { name, hosts, places, updatedAt } of set) {
    there.set(name, { ...(there.get(name) ?? NOTHING), hosts, places, setAt: updatedAt });
  }
  return there;
}

export function useSecrets(surface: Surface) {
  const workspace = useWorkspace();
  return useQuery({
    queryKey: ['secrets', workspace?.id, surface],
    enabled: workspace !== undefined,
    queryFn: surface === 'workers' ? readWorkers : readAutomations,
  });
}

interface NewValue {
  name: string;
  value: string;
  hosts: string[];
  /** Only together with hosts. */
  places?: string[];
}

const setOn: Record<Surface, (given: NewValue) => Promise<{ warnings?: string[] }>> = {
  workers: async ({ name, ...body }) =>
    unwrap((await workerApi()).PUT('/api/secrets/{name}', { params: { path: { name } }, body })),
  automations: (body) => unwrap(api.POST('/api/secrets', { body })),
};

const deleteOn: Record<Surface, (name: string) => Promise<unknown>> = {
  // Forced, because the dialog has listed the workers that declare it.
  workers: async (name) =>
    unwrap((await workerApi()).DELETE('/api/secrets/{name}', { params: { path: { name }, query: { force: true } } })),
  automations: (name) => unwrap(api.DELETE('/api/secrets/{name}', { params: { path: { name } } })),
};

/** Reports a change that failed on some surfaces; it is kept on the others. */
export class PartlyFailed extends Error {
  constructor(readonly failures: ReadonlyMap<Surface, string>) {
    super([...failures].map(([surface, text]) => `For ${surface}: ${text}`).join('\n'));
  }
}

async function onEach<T>(surfaces: readonly Surface[], act: (surface: Surface) => Promise<T>): Promise<T[]> {
  const failures = new Map<Surface, string>();
  const results: T[] = [];
  await Promise.all(
    surfaces.map((surface) =>
      act(surface).then(
        (result) => results.push(result),
        (error: unknown) => failures.set(surface, textOf(error)),
      ),
    ),
  );
  if (failures.size) throw new PartlyFailed(failures);
  return results;
}

function textOf(error: unknown): string {
  const [field] = error instanceof ApiError ? error.fields : [];
  if (!field) return error instanceof Error ? error.message : String(error);
  const [name, index] = field.path.split('.');
  const item = name === 'hosts' ? 'host' : name === 'places' ? 'place' : undefined;
  if (!item) return field.message;
  return index === undefined ? `${item}s ${field.message}` : `${item} ${Number(index) + 1} ${field.message}`;
}

/** Changes a secret on the selected surfaces. */
export function useSecretChange() {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const settled = { onSettled: () => queryClient.invalidateQueries({ queryKey: ['secrets', workspace?.id] }) };
  return {
    set: useMutation({
      ...settled,
      mutationFn: async ({ surfaces, ...given }: NewValue & { surfaces: readonly Surface[] }) => {
        const saved = await onEach(surfaces, (surface) => setOn[surface](given));
        return { warnings: [...new Set(saved.flatMap(({ warnings = [] }) => warnings))] };
      },
    }),
    remove: useMutation({
      ...settled,
      mutationFn: ({ name, surfaces }: { name: string; surfaces: readonly Surface[] }) =>
        onEach(surfaces, (surface) => deleteOn[surface](name)),
    }),
  };
}
