import { ApiError, type AutomationSchemas, createClients } from '@gantry/api-client';
import { QueryClient } from '@tanstack/react-query';
import { session } from './session/session';

export type Page = AutomationSchemas['Page'];
export type AutomationItem = AutomationSchemas['AutomationItem'];
export type Version = AutomationSchemas['Version'];
export type Run = AutomationSchemas['Run'];
export type RunItem = AutomationSchemas['RunItem'];
export type RunStatus = AutomationSchemas['RunStatus'];
export type RunError = AutomationSchemas['RunError'];
export type RunArtifact = AutomationSchemas['RunArtifact'];
export type InputItem = AutomationSchemas['InputItem'];
export type OutputItem = AutomationSchemas['OutputItem'];

/** Same origin. A token that the server no longer takes is renewed once, and the request is sent again. */
export async function authorizedFetch(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await fetch(request);
  if (response.status !== 401 || session.current().status !== 'signed-in') return response;
  const token = await session.renew();
  if (!token) return response;
  again.headers.set('Authorization', `Bearer ${token}`);
  return fetch(again);
}

export const { automation: api } = createClients({ getToken: () => session.token(), fetch: authorizedFetch });

const RETRIES = 2;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (failures, error) => failures < RETRIES && mayPass(error),
      },
    },
  });
}

/** A refusal stays one however often it is asked for; a network or a busy server may recover. */
function mayPass(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}

export const isStatus = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof ApiError && statuses.includes(error.status);
