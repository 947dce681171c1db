/** The provider of a connection, with the client and addresses that count for it now. */
import type { Connection } from '../generated/prisma/client';
import type { Provider } from '../integrations/catalog/provider';
import type { IntegrationDeps } from '../integrations/integration-deps';
import { buildRedirectUri, getIntegration, resolveClient } from '../integrations/integrations';
import type { Party } from './oauth-client';
import { getAuthorization, serverParty } from './server-sign-in';

type Of = Pick<Connection, 'workspaceId' | 'app' | 'parameters' | 'authorization'>;

export const getParameters = ({ parameters }: Pick<Of, 'parameters'>): Record<string, string> =>
  parameters as Record<string, string>;

/** @throws AppError 404 for an app that is gone, 409 `app_not_configured` */
export async function resolveParty(deps: IntegrationDeps, connection: Of): Promise<Party> {
  const authorization = getAuthorization(connection);
  if (authorization) return serverParty(deps, authorization);
  const { provider } = await getIntegration(deps, connection.workspaceId, connection.app);
  return {
    provider,
    parameters: getParameters(connection),
    client: await resolveClient(deps, connection.workspaceId, provider),
    redirectUri: buildRedirectUri(deps),
    outbound: { allow: deps.outboundAllow },
  };
}

/** Lists the scopes to request: the chosen ones, or the defaults, and what the provider always needs. */
export function scopesToAsk(provider: Provider, chosen: readonly string[] | undefined): string[] {
  const wanted = chosen ?? provider.scopes.filter((scope) => scope.default).map(({ name }) => name);
  return [...new Set([...(provider.alwaysScopes ?? []), ...wanted])];
}
