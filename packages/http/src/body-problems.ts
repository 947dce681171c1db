import { AppError, type FieldProblem, invalid } from './errors';

/** Looks at what a body means. @throws AppError 400 with the fields that are wrong */
export type CheckBody = (body: never) => unknown;

/**
 * Adds to what the schema refuses of a body what the rest of it means: the sender corrects all of it at once. Fields that the
 * schema names are taken out first, and whatever is said of them then is left out.
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
