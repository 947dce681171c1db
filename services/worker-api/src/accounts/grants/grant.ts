/** Maps a person's grant to a client to its restriction and its API representation. */
import { type Restriction, restriction } from '@gantry/events';
import { toApiFields } from '@gantry/http';
import type { OauthGrant } from '../../generated/prisma/client';
import { findClientHost } from './client-id';
import type { Scope } from './oauth-metadata';

export const GRANT_ID_PREFIX = 'gra_';

/** The id of a grant can stand in place of a session's: see identity/introspection.ts. */
export const isGrantId = (id: string): boolean => id.startsWith(GRANT_ID_PREFIX);

/** Always names the toolsets, so that one added later stays closed to clients with an earlier grant. */
export const toGrantRestriction = (toolsets: string[], readonly: boolean): Restriction => ({
  toolsets: [...new Set(toolsets)],
  ...(readonly && { readonly }),
});

export const toScope = (rules: { readonly?: true | undefined }): Scope => (rules.readonly ? 'mcp:read' : 'mcp');

export type ListedGrant = OauthGrant & { membership: { workspace: { id: string; name: string } } };

export function grantToApi(grant: ListedGrant) {
  const { clientId, clientName, membership } = grant;
  const { toolsets, readonly } = restriction.parse(grant.restriction);
  return {
    ...toApiFields(grant, 'id', 'createdAt', 'lastUsedAt', 'expiresAt'),
    client: { id: clientId, name: clientName, host: findClientHost(clientId) },
    workspace: { id: membership.workspace.id, name: membership.workspace.name },
    toolsets: toolsets ?? [],
    readonly: readonly ?? false,
  };
}
