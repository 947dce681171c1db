/** The secrets of both surfaces, joined by their names. */

export type Surface = 'workers' | 'automations';

export const SURFACES: readonly Surface[] = ['workers', 'automations'];

export const SURFACE_LABELS: Record<Surface, string> = { workers: 'Workers', automations: 'Automations' };

/** A secret as one surface has it. */
export interface SurfaceSecret {
  /** Time its value was last set; null: it has none. */
  setAt: number | null;
  lastUsedAt: number | null;
  /** The only hosts that its value goes to; none: code gets the value. */
  hosts: string[];
  /** The places in requests to those hosts where its value is allowed. */
  places: string[];
  usedBy: { id: string; name: string; exposed?: true | undefined }[];
}

export type SurfaceSecrets = ReadonlyMap<string, SurfaceSecret>;

export interface SecretRow {
  name: string;
  /** Undefined if the surface has not responded, or does not have the name. */
  bySurface: Record<Surface, SurfaceSecret | undefined>;
  /** Surfaces that declare it without a value. */
  missing: Surface[];
}

export const isMissing = (secret: SurfaceSecret | undefined): boolean =>
  secret !== undefined && secret.setAt === null && secret.usedBy.length > 0;

export const listSurfacesWithValue = ({ bySurface }: SecretRow): Surface[] =>
  SURFACES.filter((surface) => bySurface[surface]?.setAt != null);

/** Joins the secrets of both surfaces, missing ones first, then by name. */
export function joinSecrets(workers: SurfaceSecrets | undefined, automations: SurfaceSecrets | undefined): SecretRow[] {
  const names = new Set([...(workers?.keys() ?? []), ...(automations?.keys() ?? [])]);
  return [...names]
    .map((name) => {
      const bySurface = { workers: workers?.get(name), automations: automations?.get(name) };
      return { name, bySurface, missing: SURFACES.filter((surface) => isMissing(bySurface[surface])) };
    })
    .sort((a, b) => Number(b.missing.length > 0) - Number(a.missing.length > 0) || a.name.localeCompare(b.name));
}
