/** Names the right host to somebody who asks this one for an operation of another surface. */
import { readOperations } from './openapi-document';
import { type OperationTable, operationTable } from './operation-table';

export interface OtherSurface {
  /** As people call it. */
  name: string;
  openapiFile: string;
  url: string;
  canonicalPath?: (path: string) => string;
}

/** @returns where `method` of `path` is, as a sentence; undefined where no other surface has it */
export type FindElsewhere = (method: string, path: string) => string | undefined;

/** The files are read when the first unknown path is asked for, and not by a service that is never asked for any. */
export function otherSurfaces(surfaces: OtherSurface[]): FindElsewhere {
  let tables: (OtherSurface & { table: OperationTable })[] | undefined;
  return (method, path) => {
    tables ??= surfaces.map((one) => ({ ...one, table: operationTable(readOperations(one.openapiFile)) }));
    const found = tables.find(({ table, canonicalPath = (asked) => asked }) => {
      const operation = table.find(method, canonicalPath(path));
      return operation !== undefined && !('allowed' in operation);
    });
    return found && `it is an operation of the ${found.name} surface, at ${found.url}`;
  };
}
