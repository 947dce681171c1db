import type { Version } from './version-repository';

/**
 * Returns ids of the only workers that a changed version may call; null: any. They are those of its base, unless a
 * person has written or approved other files and so answers for them: one who changes a setting has not read them
 * (ADR 53).
 * @param isUnread whether an agent or a repair wrote the change, and no person has approved it
 */
export const inheritScope = (
  base: Pick<Version, 'code' | 'onlyWorkers'>,
  { code, isUnread }: Pick<Version, 'code'> & { isUnread: boolean },
): string[] | null => (isUnread || code.digest === base.code.digest ? base.onlyWorkers : null);
