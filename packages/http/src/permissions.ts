/** What a role may do, read from the table that decides it: the `x-access` of the operations. */
import type { Role } from '@gantry/events';
import { readOperations } from './openapi-document';
import { roleAtLeast } from './principal';

/**
 * For the `permissions` of a resource, so that a screen offers what the server will accept.
 * @param operationIds by the name of the permission
 * @throws Error for an operation that the file does not have, or that no role decides
 */
export function permissionTable<Name extends string>(
  openapiFile: string,
  operationIds: Record<Name, string>,
): (role: Role) => Record<Name, boolean> {
  const operations = new Map(readOperations(openapiFile).map(({ id, access }) => [id, access]));
  const needed = Object.entries<string>(operationIds).map(([name, id]) => {
    const access = operations.get(id);
    if (!access || access === 'public' || access === 'optional' || access === 'account' || access === 'user') {
      throw new Error(`permission ${name}: no role decides the operation ${id} of ${openapiFile}`);
    }
    return [name, access] as const;
  });
  return (role) =>
    Object.fromEntries(needed.map(([name, least]) => [name, roleAtLeast(role, least)])) as Record<Name, boolean>;
}
