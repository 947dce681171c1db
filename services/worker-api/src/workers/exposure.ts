/** Whether the code of a workspace's workers may get values of connections and secrets instead of placeholders. */
import { forbidden } from '@gantry/http';
import type { Db } from '../database';
import type { Definition } from './definition';

export async function allowsExposure(db: Db, workspaceId: string): Promise<boolean> {
  const select = { allowExposedCredentials: true };
  const workspace = await db.workspace.findUnique({ where: { id: workspaceId }, select });
  return workspace?.allowExposedCredentials === true;
}

/** @throws AppError 403 `exposure_forbidden` */
export async function requireExposure(
  db: Db,
  workspaceId: string,
  { expose }: Pick<Definition, 'expose'>,
): Promise<void> {
  if (!expose.length || (await allowsExposure(db, workspaceId))) return;
  throw forbidden(
    'exposure_forbidden',
    `expose: the setting allow_exposed_credentials of this workspace is off, so no worker may name ${expose.join(', ')} there`,
  );
}
