/** Formats paths for the log, without the query and without credentials. */
import { withoutSecrets } from './log';
import type { Operation } from './openapi-document';

/** @param operation the matched one; its secret parameters are logged by their names */
export function pathForLog(url: string, operation: Operation | undefined): string {
  const path = url.split('?', 1)[0] as string;
  const secret = operation?.parameters.some((parameter) => parameter['x-secret']);
  return secret ? (operation as Operation).path : withoutSecrets(readable(path));
}

/** Decodes the path, so that encoded tokens are redacted too. */
function readable(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
