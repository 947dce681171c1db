/** The provider of a connection, with the client and addresses that count for it now. */
import type { Connection } from '../generated/prisma/client';
import type { Provider } from '../integrations/catalog/provider';
import type { IntegrationDeps } from '../integrations/integration-deps';
import { buildRedirectUri, getIntegration, resolveClient } from '../integrations/integrations';
import { parseAuthorization, toServerOauthConfig } from './mcp-server-authorization';
import type { OauthConfig } from './oauth-client';

export type ConnectionRef = Pick<Connection, 'workspaceId' | 'app' | 'parameters' | 'authorization'>;

export const getParameters = ({ parameters }: Pick<ConnectionRef, 'parameters'>): Record<string, string> =>
  parameters as Record<string, string>;

/** @throws AppError 404 for an app that is gone, 409 `app_not_configured` */
export async function resolveOauthConfig(deps: IntegrationDeps, connection: ConnectionRef): Promise<OauthConfig> {
  const authorization = parseAuthorization(connection);
  if (authorization) return toServerOauthConfig(deps, authorization);
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
export function selectRequestedScopes(provider: Provider, selectedScopes: readonly string[] | undefined): string[] {
  const wanted = selectedScopes ?? provider.scopes.filter((scope) => scope.default).map(({ name }) => name);
  return [...new Set([...(provider.alwaysScopes ?? []), ...wanted])];
}
