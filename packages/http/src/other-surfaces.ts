/** Names the right host to a caller that requests an operation of another surface. */
import { openapiFiles, publishedFiles, type Surface } from '@gantry/openapi';
import { readOperations } from './openapi-document';
import { createOperationTable, type OperationTable } from './operation-table';

export interface OtherSurface {
  /** Display name. */
  name: string;
  openapiFile: string;
  url: string;
}

/** Public addresses of the three surfaces, without a slash at the end. */
export interface SurfaceAddresses {
  baseUrl: string;
  dashboardUrl: string;
  skillsUrl: string;
}

/** Returns the documents of one surface, and the other surfaces with their addresses. */
export function getSurfaceDocuments(surface: Surface, { baseUrl, dashboardUrl, skillsUrl }: SurfaceAddresses) {
  const urls: Record<Surface, string> = { worker: baseUrl, automation: dashboardUrl, skills: skillsUrl };
  const surfaces = Object.keys(urls) as Surface[];
  return {
    openapiFile: openapiFiles[surface],
    publishedFile: publishedFiles[surface],
    publicUrl: urls[surface],
    otherSurfaces: surfaces
      .filter((name) => name !== surface)
      .map((name): OtherSurface => ({ name, openapiFile: openapiFiles[name], url: urls[name] })),
  };
}

/** @returns a sentence with the location of the operation; undefined if no other surface has it */
export type LocateSurface = (method: string, path: string) => string | undefined;

/** Reads the files at the first request for an unknown path. */
export function createSurfaceLocator(surfaces: OtherSurface[]): LocateSurface {
  let tables: (OtherSurface & { table: OperationTable })[] | undefined;
  return (method, path) => {
    tables ??= surfaces.map((one) => ({ ...one, table: createOperationTable(readOperations(one.openapiFile)) }));
    const found = tables.find(({ table }) => {
      const operation = table.find(method, path);
      return operation !== undefined && !('allowed' in operation);
    });
    return found && `this operation belongs to the ${found.name} surface, at ${found.url}`;
  };
}
