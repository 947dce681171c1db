/** The secrets of both surfaces, joined by their names. */

export type Surface = 'workers' | 'automations';

export const SURFACES: readonly Surface[] = ['workers', 'automations'];

/** One surface's knowledge of a name. */
export interface SecretThere {
  /** Time its value was last set; null: it has none. */
  setAt: number | null;
  lastUsedAt: number | null;
  /** The only hosts that its value goes to; none: code gets the value. */
  hosts: string[];
  /** Where in requests to those hosts it goes. */
  places: string[];
  usedBy: { id: string; name: string; exposed?: true | undefined }[];
}

export type SecretsThere = ReadonlyMap<string, SecretThere>;

export interface SecretRow {
  name: string;
  /** Undefined where the surface has not answered, or does not know the name. */
  there: Record<Surface, SecretThere | undefined>;
  /** Surfaces that declare it without a value. */
  missing: Surface[];
}

export const isMissing = (there: SecretThere | undefined): boolean =>
  there !== undefined && there.setAt === null && there.usedBy.length > 0;

/** Missing secrets come first, then by name. */
export function joinSecrets(workers: SecretsThere | undefined, automations: SecretsThere | undefined): SecretRow[] {
  const names = new Set([...(workers?.keys() ?? []), ...(automations?.keys() ?? [])]);
  return [...names]
    .map((name) => {
      const there = { workers: workers?.get(name), automations: automations?.get(name) };
      return { name, there, missing: SURFACES.filter((surface) => isMissing(there[surface])) };
    })
    .sort((a, b) => Number(b.missing.length > 0) - Number(a.missing.length > 0) || a.name.localeCompare(b.name));
}
