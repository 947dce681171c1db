/** Typed clients of the three surfaces, generated from their OpenAPI files. */
import type { SurfacePaths, SurfaceSchemas } from '@gantry/openapi';
import createFetchClient, { type Client, type Middleware } from 'openapi-fetch';
import { toNotJsonError } from './api-error';
import { createRetryingFetch, type RetryOptions } from './retry';

export type WorkerSchemas = SurfaceSchemas<'worker'>;
export type AutomationSchemas = SurfaceSchemas<'automation'>;
export type SkillsSchemas = SurfaceSchemas<'skills'>;

export interface ClientOptions {
  /** Worker surface. Absent: the origin of the page. */
  baseUrl?: string;
  /** Automation surface. Absent: the origin of the page. */
  dashboardUrl?: string;
  /** Skills surface. Absent: the origin of the page. */
  skillsUrl?: string;
  /** Sent as a Bearer. A session cookie needs neither this nor `getToken`. */
  token?: string;
  /** Called before each request; null sends none. Wins over `token`. */
  getToken?: () => string | null | Promise<string | null>;
  /** The workspace that a personal token or a session acts in. */
  workspaceId?: string;
  fetch?: (request: Request) => Promise<Response>;
  /** Retries of requests that are safe to repeat; false: none. */
  retry?: RetryOptions | false;
}

export interface Clients {
  worker: Client<SurfacePaths<'worker'>>;
  automation: Client<SurfacePaths<'automation'>>;
  skills: Client<SurfacePaths<'skills'>>;
}

/** The fetch of these options, with retries. */
export function createFetchWithRetries(options: ClientOptions): (request: Request) => Promise<Response> {
  const send = options.fetch ?? ((request: Request) => fetch(request));
  return createRetryingFetch(send, options.retry === false ? { retriesMax: 0 } : options.retry);
}

/** Adds the credential and the workspace to a request. */
export async function addCredential(options: ClientOptions, request: Request): Promise<Request> {
  const token = options.getToken ? await options.getToken() : options.token;
  if (token) request.headers.set('Authorization', `Bearer ${token}`);
  if (options.workspaceId) request.headers.set('x-svc-workspace', options.workspaceId);
  return request;
}

export function createClients(options: ClientOptions): Clients {
  const fetchWithRetries = createFetchWithRetries(options);
  const credentials: Middleware = {
    onRequest: ({ request }) => addCredential(options, request),
    onResponse({ response, options: { parseAs } }) {
      if (response.status === 404 || (parseAs === 'json' && response.ok)) assertNotHtml(response);
    },
  };
  const createApiClient = <Paths extends object>(baseUrl = ''): Client<Paths> => {
    const client = createFetchClient<Paths>({ baseUrl, fetch: fetchWithRetries });
    client.use(credentials);
    return client;
  };
  return {
    worker: createApiClient<SurfacePaths<'worker'>>(options.baseUrl),
    automation: createApiClient<SurfacePaths<'automation'>>(options.dashboardUrl),
    skills: createApiClient<SurfacePaths<'skills'>>(options.skillsUrl),
  };
}

/** A proxy, or another program at this address, responds to everything with a page. */
function assertNotHtml(response: Response): void {
  if (!response.headers.get('Content-Type')?.includes('text/html')) return;
  throw toNotJsonError(response, `${new URL(response.url).origin} responded with a web page: it is not a Gantry API`);
}
