import type { Role } from '../shell/api';

/** A role that can be assigned. A workspace's owner stays one until another member becomes the owner. */
export type GrantableRole = Exclude<Role, 'owner'>;

const ROLE_LABELS: Record<Role, string> = {
  viewer: 'Viewer: can only view',
  member: 'Member: can create, edit and run',
  admin: 'Admin: can also manage members and secrets',
  owner: 'Owner: can also delete the workspace',
};

/** Returns the name of the role without its description. */
export const getRoleLabel = (role: Role): string => ROLE_LABELS[role].split(':')[0] ?? role;

export const formatRoleWithArticle = (name: string): string => (/^[aeio]/.test(name) ? `an ${name}` : `a ${name}`);

const { owner, ...grantable } = ROLE_LABELS;

const toSelectOptions = (labels: Partial<typeof ROLE_LABELS>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

/** Options of a select field, from the least to the most that a role may do. */
export const ROLE_OPTIONS = toSelectOptions(ROLE_LABELS);
export const GRANTABLE_ROLE_OPTIONS = toSelectOptions(grantable);

const ROLES_BY_RANK: Role[] = ['viewer', 'member', 'admin', 'owner'];

/** @param role undefined while it is not known: nothing is allowed then */
export const hasRoleAtLeast = (role: Role | undefined, minimum: Role): boolean =>
  role !== undefined && ROLES_BY_RANK.indexOf(role) >= ROLES_BY_RANK.indexOf(minimum);
