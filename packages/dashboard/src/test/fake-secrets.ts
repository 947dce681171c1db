/** Fakes the secrets of both surfaces, each with a store of its own. */
import type { FakeAnswer, FakeRequest } from './fake-accounts';

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
  refusing: 'worker' | 'automation' | null;
}

const newStore = (): FakeStore => ({ set: new Map(), hosts: new Map(), places: new Map(), declared: new Map() });

export const newSecrets = (): FakeSecrets => ({
  worker: newStore(),
  automation: newStore(),
  sent: {},
  refusing: null,
});

/** Returns undefined for requests of another resource. */
export async function answerSecret(fake: FakeSecrets, req: FakeRequest): Promise<FakeAnswer | undefined> {
  const { line, part, surface, signedIn } = req;
  if (part[2] !== 'secrets') return undefined;
  if (!signedIn) return { status: 401, body: { detail: 'sign in' } };
  const store = fake[surface];
  const listed = (list: object[]): FakeAnswer => ({
    status: 200,
    body: surface === 'worker' ? list : { secrets: list },
  });
  if (line === 'GET /api/secrets') return listed([...store.set].map(([name, at]) => entry(store, surface, name, at)));
  if (line === 'GET /api/secrets/declared') {
    return listed(
      [...store.declared].map(([name, users]) => ({ name, set: store.set.has(name), used_by: users, usedBy: users })),
    );
  }
  if (fake.refusing === surface) return { status: 409, body: { detail: 'a workspace holds at most 500 secrets' } };
  if (line.startsWith('DELETE')) {
    store.set.delete(part[3] ?? '');
    return { status: 204 };
  }
  const { name = part[3] ?? '', value = '', hosts = [], places } = (await req.body()) as Partial<Sent>;
  if (hosts.some((host) => host.includes('/'))) return badHost(hosts.findIndex((host) => host.includes('/')));
  const wrongPlace = places?.findIndex((place) => !/^(path|(header|query|cookie|body)(:.+)?)$/.test(place)) ?? -1;
  if (wrongPlace >= 0) return badField(`places.${wrongPlace}`, 'must be a place, such as header');
  store.hosts.set(name, hosts);
  if (places) store.places.set(name, places);
  fake.sent[`${surface} ${name}`] = value;
  store.set.set(name, Date.now());
  const warnings = /^\d{6}$/.test(value) ? ['six digits are found in many texts by chance'] : undefined;
  return { status: 200, body: { ...entry(store, surface, name, Date.now()), warnings } };
}

interface Sent {
  name: string;
  value: string;
  hosts: string[];
  places: string[];
}

const badHost = (index: number) => badField(`hosts.${index}`, 'must be a host, such as api.example.com');

function badField(path: string, message: string): FakeAnswer {
  const errors = [{ path, message }];
  return { status: 400, body: { code: 'invalid_request', detail: 'the request is wrong', errors } };
}

function entry(store: FakeStore, surface: 'worker' | 'automation', name: string, at: number): object {
  const hosts = store.hosts.get(name) ?? [];
  const places = store.places.get(name) ?? ['header'];
  if (surface === 'automation') return { name, hosts, places, createdAt: at, updatedAt: at };
  const time = new Date(at).toISOString();
  const usedBy = store.declared.get(name) ?? [];
  return {
    ...{ name, hosts, places, created_at: time, updated_at: time, used_by: usedBy },
    last_used_at: usedBy.length ? new Date(Date.now() - 120_000).toISOString() : null,
  };
}
