import { addCredential, type ClientOptions, type Clients, createClients, createFetchWithRetries } from './clients';
import { createRuns, type Runs } from './runs';

/** Clients of the three surfaces, and what takes more than one request. */
export interface Gantry extends Clients {
  runs: Runs;
  /** Any request to a surface, with the credential and the retries of the typed clients; the response is not checked. */
  request(surface: keyof Clients, path: string, init?: RequestInit): Promise<Response>;
}

export function createGantry(options: ClientOptions): Gantry {
  const clients = createClients(options);
  const fetchWithRetries = createFetchWithRetries(options);
  const origins = { worker: options.baseUrl, automation: options.dashboardUrl, skills: options.skillsUrl };
  return {
    ...clients,
    runs: createRuns(clients.worker),
    request: async (surface, path, init) =>
      fetchWithRetries(await addCredential(options, new Request(`${origins[surface] ?? ''}${path}`, init))),
  };
}
