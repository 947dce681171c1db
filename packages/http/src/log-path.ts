/** Formats paths for the log, without the query and without credentials. */
import { redactSecrets } from './log';
import type { Operation } from './openapi-document';

/** @param operation the matched one; its secret parameters are logged by their names */
export function toLogPath(url: string, operation: Operation | undefined): string {
  const path = url.split('?', 1)[0] as string;
  const secret = operation?.parameters.some((parameter) => parameter['x-secret']);
  return secret ? (operation as Operation).path : redactSecrets(decodePath(path));
}

/** Decodes the path, so that encoded tokens are redacted too. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
