/** Fakes the secrets of both surfaces, each with a store of its own. */
import type { FakeRequest, FakeResponse } from './fake-accounts';

interface FakeStore {
  /** Time at which each was set. */
  set: Map<string, number>;
  hosts: Map<string, string[]>;
  places: Map<string, string[]>;
  declared: Map<string, { id: string; name: string; exposed?: true }[]>;
}

export interface FakeSecrets {
  worker: FakeStore;
  automation: FakeStore;
  /** Submitted values, by `surface NAME`. */
  sent: Record<string, string>;
  /** The surface that rejects the next changes. */
  failingSurface: 'worker' | 'automation' | null;
}

const createStore = (): FakeStore => ({ set: new Map(), hosts: new Map(), places: new Map(), declared: new Map() });

export const createSecretState = (): FakeSecrets => ({
  worker: createStore(),
  automation: createStore(),
  sent: {},
  failingSurface: null,
});

/** Returns undefined for requests of another resource. */
export async function handleSecretRequest(fake: FakeSecrets, req: FakeRequest): Promise<FakeResponse | undefined> {
  const { line, part, surface, signedIn } = req;
  if (part[2] !== 'secrets') return undefined;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  const store = fake[surface];
  const listResponse = (list: object[]): FakeResponse => ({
    status: 200,
    body: surface === 'worker' ? list : { secrets: list },
  });
  if (line === 'GET /api/secrets')
    return listResponse([...store.set].map(([name, at]) => toSecretEntry(store, surface, name, at)));
  if (line === 'GET /api/secrets/declared') {
    return listResponse(
      [...store.declared].map(([name, users]) => ({ name, set: store.set.has(name), used_by: users, usedBy: users })),
    );
  }
  if (fake.failingSurface === surface)
    return { status: 409, body: { detail: 'a workspace can have at most 500 secrets' } };
  if (line.startsWith('DELETE')) {
    store.set.delete(part[3] ?? '');
    return { status: 204 };
  }
  const { name = part[3] ?? '', value = '', hosts = [], places } = (await req.body()) as Partial<SecretBody>;
  if (hosts.some((host) => host.includes('/')))
    return invalidHostResponse(hosts.findIndex((host) => host.includes('/')));
  const invalidPlaceIndex =
    places?.findIndex((place) => !/^(path|(header|query|cookie|body)(:.+)?)$/.test(place)) ?? -1;
  if (invalidPlaceIndex >= 0)
    return invalidFieldResponse(`places.${invalidPlaceIndex}`, 'must be a place, such as header');
  store.hosts.set(name, hosts);
  if (places) store.places.set(name, places);
  fake.sent[`${surface} ${name}`] = value;
  store.set.set(name, Date.now());
  const warnings = /^\d{6}$/.test(value) ? ['six digits are found in many texts by chance'] : undefined;
  return { status: 200, body: { ...toSecretEntry(store, surface, name, Date.now()), warnings } };
}

interface SecretBody {
  name: string;
  value: string;
  hosts: string[];
  places: string[];
}

const invalidHostResponse = (index: number) =>
  invalidFieldResponse(`hosts.${index}`, 'must be a host, such as api.example.com');

function invalidFieldResponse(path: string, message: string): FakeResponse {
  const errors = [{ path, message }];
  return { status: 400, body: { code: 'invalid_request', detail: 'the request is wrong', errors } };
}

function toSecretEntry(store: FakeStore, surface: 'worker' | 'automation', name: string, at: number): object {
  const hosts = store.hosts.get(name) ?? [];
  const places = store.places.get(name) ?? ['header'];
  if (surface === 'automation') return { name, hosts, places, createdAt: at, updatedAt: at };
  const time = new Date(at).toISOString();
  const usedBy = store.declared.get(name) ?? [];
  return {
    name,
    hosts,
    places,
    created_at: time,
    updated_at: time,
    used_by: usedBy,
    last_used_at: usedBy.length ? new Date(Date.now() - 120_000).toISOString() : null,
  };
}
