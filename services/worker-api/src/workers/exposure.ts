/** Whether the code of a workspace's workers may get values of connections and secrets instead of placeholders. */
import { forbidden } from '@gantry/errors';
import type { OwnedResource } from '../access/ownership';
import { isExposureAllowed } from '../accounts/workspaces/workspace-repository';
import type { Db } from '../database';
import type { Definition } from './definition';

/**
 * Private connections serve the private workers of their owner. Code that another person wrote into one, an admin for
 * example, would read their values.
 * @param editorId who saves the definition: user, or workspace token
 * @throws AppError 403 `exposure_forbidden`, `not_owner`
 */
export async function requireAllowedExposure(
  db: Db,
  worker: OwnedResource & { workspaceId: string },
  editorId: string | null,
  { expose, connections }: Pick<Definition, 'expose' | 'connections'>,
): Promise<void> {
  if (!expose.length) return;
  // Bounded: 100 names (CREDENTIALS_NAMED_MAX) among 50 connections (NAMES_MAX).
  const exposed = expose.filter((name) => connections.includes(name));
  if (worker.visibility === 'private' && worker.ownerId !== editorId && exposed.length) {
    throw forbidden(
      'not_owner',
      `expose: only the owner of this private worker can expose connections to its code; remove ${exposed.join(', ')}, or make the worker visible to the workspace`,
    );
  }
  const { workspaceId } = worker;
  if (await isExposureAllowed(db, workspaceId)) return;
  throw forbidden(
    'exposure_forbidden',
    `expose: the workspace setting allow_exposed_credentials is off, so workers can't expose ${expose.join(', ')}`,
  );
}
