/** The one-time creation of the first owner and workspace. There is no default password anywhere. */

import { isSameSecret } from '@gantry/auth';
import { conflict, forbidden, runChecks } from '@gantry/errors';
import { enqueue, memberChanged, newId } from '@gantry/events';
import type { Actor, OperationCall } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../../audit/audit-entry';
import type { User, Workspace } from '../../generated/prisma/client';
import type { AccountDeps } from '../account-deps';
import { insertMembership } from '../members/member-repository';
import { normaliseEmail, requireEmail } from '../users/email';
import { hasAnyUser, insertUser } from '../users/user-repository';
import { insertWorkspace } from '../workspaces/workspace-repository';
import { hashPassword, requireStrongPassword } from './password';
import type { ClientInfo, OpenSession } from './session';

/** Serialises two concurrent set-ups: the second finds the first one's user. */
const SETUP_LOCK_ID = 20_480_002;

/** @throws AppError 403 for a wrong setup token, 409 if a user exists already, 400 for a poor password */
export async function setUpInstallation(
  deps: AccountDeps,
  input: OperationCall<'worker', 'setUp'>['body'],
  client: ClientInfo,
  actor: Actor,
) {
  const { prisma, sessions, setupToken } = deps;
  if (!setupToken || !isSameSecret(setupToken, input.setup_token)) {
    throw forbidden('wrong_setup_token', 'setup_token: does not match this installation’s setup token');
  }
  if (await hasAnyUser(prisma)) throw createAlreadySetUpError();
  const email = requireCredentials(input);
  const passwordHash = await hashPassword(input.password);
  return transaction(prisma, async (tx): Promise<{ user: User; workspace: Workspace; session: OpenSession }> => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(${SETUP_LOCK_ID})`;
    if (await hasAnyUser(tx)) throw createAlreadySetUpError();
    const workspace = await insertWorkspace(tx, {
      id: newId('ws_'),
      name: input.workspace_name?.trim() ?? 'My workspace',
    });
    const user = await insertUser(tx, {
      id: newId('usr_'),
      email,
      emailVerifiedAt: null,
      name: input.name?.trim() ?? null,
      passwordHash,
      defaultWorkspaceId: workspace.id,
    });
    await insertMembership(tx, workspace.id, user.id, 'owner');
    await enqueue(tx, memberChanged, workspace.id, { userId: user.id });
    await recordChange(tx, { ...actor, id: user.id, label: email }, 'workspace.created', {
      workspaceId: workspace.id,
      id: workspace.id,
    });
    return { user, workspace, session: await sessions.open(tx, user.id, client) };
  });
}

/** @returns the normalised address @throws AppError 400 for either, or both */
export function requireCredentials({ email, password }: { email?: string; password?: string }): string {
  const [address] = runChecks(
    () => requireEmail(email ?? ''),
    () => requireStrongPassword(password ?? '', normaliseEmail(email ?? '') ?? '', 'password'),
  );
  return address;
}

const createAlreadySetUpError = () =>
  conflict('already_set_up', 'this installation already has an owner; sign in instead');
