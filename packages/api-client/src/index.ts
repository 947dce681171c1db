/** Typed clients of the three surfaces, generated from their OpenAPI files. Works in Node and in browsers. */
import type { PathsOf, SchemasOf } from '@gantry/openapi';
import createFetchClient, { type Client, type Middleware } from 'openapi-fetch';

export type WorkerSchemas = SchemasOf<'worker'>;
export type AutomationSchemas = SchemasOf<'automation'>;
export type SkillsSchemas = SchemasOf<'skills'>;

export interface ClientOptions {
  /** Worker surface. Absent: the origin of the page. */
  baseUrl?: string;
  /** Automation surface. Absent: the origin of the page. */
  dashboardUrl?: string;
  /** Skills surface. Absent: the origin of the page. */
  skillsUrl?: string;
  /** Sent as a Bearer. A session cookie needs neither this nor `getToken`. */
  token?: string;
  /** Asked before each request; null sends none. Wins over `token`. */
  getToken?: () => string | null | Promise<string | null>;
  /** The workspace that a personal token or a session acts in. */
  workspaceId?: string;
  fetch?: (request: Request) => Promise<Response>;
}

export interface Clients {
  worker: Client<PathsOf<'worker'>>;
  automation: Client<PathsOf<'automation'>>;
  skills: Client<PathsOf<'skills'>>;
}

export function createClients(options: ClientOptions): Clients {
  const credentials: Middleware = {
    async onRequest({ request }) {
      const token = options.getToken ? await options.getToken() : options.token;
      if (token) request.headers.set('Authorization', `Bearer ${token}`);
      if (options.workspaceId) request.headers.set('x-svc-workspace', options.workspaceId);
      return request;
    },
  };
  const surface = <Paths extends object>(baseUrl = ''): Client<Paths> => {
    const client = createFetchClient<Paths>({ baseUrl, ...(options.fetch && { fetch: options.fetch }) });
    client.use(credentials);
    return client;
  };
  return {
    worker: surface<PathsOf<'worker'>>(options.baseUrl),
    automation: surface<PathsOf<'automation'>>(options.dashboardUrl),
    skills: surface<PathsOf<'skills'>>(options.skillsUrl),
  };
}

/** An answer that is not a success, as one error for all surfaces. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** By field, where the answer names fields. */
    readonly fields: { path: string; message: string }[],
    readonly requestId: string | null,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

interface ErrorBody {
  error?: string;
  detail?: string;
  code?: string;
  details?: { path: string; message: string }[];
  errors?: { path: string; message: string }[];
}

/** The data of an answer. @throws ApiError for anything but 2xx. */
export async function unwrap<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await answer;
  if (response.ok) return data as T;
  const body: ErrorBody = typeof error === 'object' && error !== null ? error : {};
  throw new ApiError(
    response.status,
    body.code ?? 'unknown',
    body.error ?? body.detail ?? `the server answered ${response.status}`,
    body.details ?? body.errors ?? [],
    response.headers.get('X-Request-Id'),
  );
}
