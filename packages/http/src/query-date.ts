import { invalid } from '@gantry/errors';
import { isTimestamp } from './timestamp';

/**
 * Parses a timestamp of a query or a cursor.
 * @throws AppError 400 for an unsupported one, such as a leap second
 */
export function parseQueryDate(value: unknown, path: string): Date | undefined {
  if (value === undefined) return undefined;
  const text = String(value);
  if (!isTimestamp(text)) throw invalid([{ path, message: 'is not a valid timestamp' }]);
  return new Date(text);
}
