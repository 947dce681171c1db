/** A person's grant to a client: its rules, and how it is shown. */
import { type Restriction, restriction } from '@gantry/events';
import { toApiFields } from '@gantry/http';
import type { OauthGrant } from '../../generated/prisma/client';
import { getClientHost } from './client-id';
import type { Scope } from './oauth-addresses';

export const GRANT = 'gra_';

/** The id of a grant can stand in place of a session's: see identity/introspection.ts. */
export const isGrantId = (id: string): boolean => id.startsWith(GRANT);

/** Named toolsets always: one that comes later is closed to clients that were let in before. */
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
    client: { id: clientId, name: clientName, host: getClientHost(clientId) },
    workspace: { id: membership.workspace.id, name: membership.workspace.name },
    toolsets: toolsets ?? [],
    readonly: readonly ?? false,
  };
}
