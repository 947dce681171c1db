import { invalid } from '@gantry/http';

/**
 * A moment that the OpenAPI file has checked; the validator may have made a Date of it already.
 * @throws AppError 400 for what RFC 3339 allows and no clock of ours has, such as a leap second
 */
export function queryDate(value: unknown, path: string): Date | undefined {
  if (value === undefined) return undefined;
  const date = value instanceof Date ? value : new Date(String(value));
  if (Number.isNaN(date.getTime())) throw invalid([{ path, message: 'is not a moment that can be looked up' }]);
  return date;
}
