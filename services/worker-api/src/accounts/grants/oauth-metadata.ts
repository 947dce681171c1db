/** Addresses and metadata documents of the authorization server of `/mcp` (RFC 8414, RFC 9728). */

export const SCOPES = ['mcp', 'mcp:read'] as const;
export type Scope = (typeof SCOPES)[number];

export const buildMcpResourceUrl = (baseUrl: string): string => `${baseUrl}/mcp`;

/** @param resource of a request (RFC 8707); a slash at its end makes no difference */
export const isMcpResource = (baseUrl: string, resource: string): boolean =>
  resource === buildMcpResourceUrl(baseUrl) || resource === `${buildMcpResourceUrl(baseUrl)}/`;

export const buildResourceMetadata = (baseUrl: string) => ({
  resource: buildMcpResourceUrl(baseUrl),
  resource_name: 'Gantry',
  authorization_servers: [baseUrl],
  scopes_supported: [...SCOPES],
  bearer_methods_supported: ['header'],
});

export const buildServerMetadata = (baseUrl: string, dashboardUrl: string) => ({
  issuer: baseUrl,
  authorization_endpoint: `${dashboardUrl}/authorize`,
  token_endpoint: `${baseUrl}/auth/oauth/token`,
  registration_endpoint: `${baseUrl}/auth/oauth/register`,
  revocation_endpoint: `${baseUrl}/auth/oauth/revoke`,
  scopes_supported: [...SCOPES],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
});

/** Builds `WWW-Authenticate` for a 401 of `/mcp`; it tells a client where to authorize (RFC 9728, 5.1). */
export function buildMcpChallenge(baseUrl: string, code: string): string {
  const errorParameter = code === 'no_credential' ? '' : 'error="invalid_token", ';
  return `Bearer ${errorParameter}resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp", scope="mcp"`;
}
