import { conflict } from '@gantry/errors';
import type { Db } from '../../database';

const OWNED_WORKSPACES_MAX = 50;

/**
 * Until the transaction ends, the user gets no other workspace: two at a time could exceed the limit.
 * @throws AppError 409 `too_many_workspaces`
 */
export async function assertCanOwnAnotherWorkspace(tx: Db, userId: string): Promise<void> {
  await tx.$executeRaw`SELECT 1 FROM users WHERE id = ${userId} FOR UPDATE`;
  const owned = await tx.membership.count({ where: { userId, role: 'owner', workspace: { deletedAt: null } } });
  if (owned >= OWNED_WORKSPACES_MAX) {
    throw conflict(
      'too_many_workspaces',
      `you already own ${OWNED_WORKSPACES_MAX} workspaces; delete or transfer one first`,
    );
  }
}
