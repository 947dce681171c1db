/** Rules for changing members, and their API representation. */

import { forbidden } from '@gantry/errors';
import type { Role } from '@gantry/events';
import { createPermissionTable, toApiFields } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { openapiFiles } from '@gantry/openapi';
import type { Member } from './member-repository';

const permissionsFor = createPermissionTable(openapiFiles.worker, {
  change_role: 'changeMemberRole',
  remove: 'removeMember',
  reset_password: 'createPasswordResetLink',
});

/** Managing members does not include owners, unless the caller is one. */
const canManageRole = (caller: Role, member: Role): boolean => caller === 'owner' || member !== 'owner';

/** @throws AppError 403 */
export function assertCanManageMember(caller: Principal, member: Role): void {
  if (canManageRole(caller.role, member)) return;
  throw forbidden('role_too_low', `this requires the owner role in the workspace; your role is ${caller.role}`);
}

export function memberToApi(member: Member, caller: Principal) {
  const { userId, emailVerifiedAt, role } = member;
  const permissions = permissionsFor(caller.role, caller.restriction);
  const canManageMember = canManageRole(caller.role, role);
  return {
    ...toApiFields(member, 'userId', 'email', 'name', 'role', 'joinedAt'),
    email_verified: emailVerifiedAt !== null,
    permissions: {
      change_role: permissions.change_role && canManageMember,
      remove: permissions.remove && canManageMember,
      reset_password: permissions.reset_password && canManageMember && userId !== caller.userId,
    },
  };
}
