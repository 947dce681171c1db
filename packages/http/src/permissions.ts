/** Derives a role's permissions from the `x-access` of operations. */
import { type Restriction, type Role, roles } from '@gantry/events';
import { hasRoleAtLeast, isOperationAllowed } from '@gantry/limits';
import { readOperations } from './openapi-document';

/**
 * Computes the `permissions` of a resource, so that clients offer only permitted actions.
 * @param operationIds by the name of the permission
 * @throws Error for an operation that the file does not have, or that no role decides
 */
export function createPermissionTable<Name extends string>(
  openapiFile: string,
  operationIds: Record<Name, string>,
): (role: Role, restriction?: Restriction) => Record<Name, boolean> {
  const operations = new Map(readOperations(openapiFile).map((operation) => [operation.id, operation]));
  const requirements = Object.entries<string>(operationIds).map(([name, id]) => {
    const operation = operations.get(id);
    const minimumRole = roles.find((role) => role === operation?.access);
    if (operation && minimumRole) return { name, least: minimumRole, operation };
    throw new Error(`permission ${name}: access to the operation ${id} in ${openapiFile} does not depend on a role`);
  });
  return (role, restriction) =>
    Object.fromEntries(
      requirements.map(({ name, least: minimumRole, operation }) => [
        name,
        hasRoleAtLeast(role, minimumRole) && isOperationAllowed(restriction, operation),
      ]),
    ) as Record<Name, boolean>;
}
