import { AppError, type FieldProblem, invalid } from './errors';

/** Checks a body beyond its schema. @throws AppError 400 with the invalid fields */
export type CheckBody = (body: never) => unknown;

/**
 * Adds semantic problems to a schema error, so that the client can fix all of them at once. Fields that the schema
 * rejects are removed first, and further problems with them are left out.
 */
export function withMeaning(refused: unknown, check: CheckBody | undefined, body: unknown): unknown {
  if (!check || !(refused instanceof AppError) || refused.kind !== 'invalid' || !refused.fields) return refused;
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return refused;
  const named = new Set(refused.fields.map(topOf));
  const rest = Object.fromEntries(Object.entries(body).filter(([field]) => !named.has(field)));
  try {
    check(rest as never);
  } catch (err) {
    if (!(err instanceof AppError) || err.kind !== 'invalid' || !err.fields) return refused;
    return invalid([...refused.fields, ...err.fields.filter((one) => !named.has(topOf(one)))]);
  }
  return refused;
}

const topOf = ({ path }: FieldProblem): string => path.split('.', 1)[0] as string;
