import { AppError, type FieldProblem, invalid } from '@gantry/errors';

/** Checks a body beyond its schema. @throws AppError 400 with the invalid fields */
export type CheckBody = (body: never) => unknown;

/**
 * Adds semantic problems to a schema error, so that the client can fix all of them at once. Fields that the schema
 * rejects are removed first, and further problems with them are left out.
 */
export function addSemanticProblems(schemaError: unknown, check: CheckBody | undefined, body: unknown): unknown {
  if (!check || !(schemaError instanceof AppError) || schemaError.kind !== 'invalid' || !schemaError.fields)
    return schemaError;
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return schemaError;
  const invalidFields = new Set(schemaError.fields.map(getTopLevelField));
  const rest = Object.fromEntries(Object.entries(body).filter(([field]) => !invalidFields.has(field)));
  try {
    check(rest as never);
  } catch (err) {
    if (!(err instanceof AppError) || err.kind !== 'invalid' || !err.fields) return schemaError;
    return invalid([...schemaError.fields, ...err.fields.filter((one) => !invalidFields.has(getTopLevelField(one)))]);
  }
  return schemaError;
}

const getTopLevelField = ({ path }: FieldProblem): string => path.split('.', 1)[0] as string;
