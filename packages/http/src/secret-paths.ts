/** Paths for the log: without the query, and without what in a path opens a door. */
import { withoutSecrets } from './log';
import type { Operation } from './openapi-document';

/** @param operation the one that was found; its secret parameters are shown by their names */
export function pathForLog(url: string, operation: Operation | undefined): string {
  const path = url.split('?', 1)[0] as string;
  const secret = operation?.parameters.some((parameter) => parameter['x-secret']);
  return secret ? (operation as Operation).path : withoutSecrets(readable(path));
}

/** A token is one however its characters are written. */
function readable(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
