/** Converts problems of express-openapi-validator to sentences about a field. */
import { type FieldProblem, formatProblem, PROBLEMS_MAX } from '@gantry/errors';
import type { Schema } from './openapi-document';

/** One problem as reported by the validator, which keeps Ajv's details only in the text. */
export interface ValidatorError {
  /** As `/body/inputs/a`. */
  path: string;
  message: string;
  /** As `maxLength.openapi.validation`. */
  errorCode: string;
}

/** The schema of a body, and its referenced schemas by reference. */
export interface BodySchema {
  root: Schema | undefined;
  schemas: Record<string, Schema>;
}

/** @throws any error other than a validation error: a bug */
export function getValidatorErrors(err: unknown): ValidatorError[] {
  const { status, errors } = err as { status?: number; errors?: ValidatorError[] };
  if (status !== 400 || !Array.isArray(errors)) throw err;
  return errors;
}

const PART_OF_REQUEST = /^\/(body|query|params|headers)(?=\/|$)\/?/;

/** Removes duplicates: a type beside a reference is checked twice. */
export function toFieldProblems(errors: ValidatorError[], bodySchema: BodySchema): FieldProblem[] {
  const problems = errors.slice(0, PROBLEMS_MAX).map((one) => toFieldProblem(one, bodySchema));
  return [...new Map(problems.map((one) => [`${one.path} ${one.message}`, one])).values()];
}

/** Converts the pointer `/body/inputs/a` to the path `inputs.a`. */
function toFieldProblem({ path: pointer, message, errorCode }: ValidatorError, bodySchema: BodySchema): FieldProblem {
  const [part, name] = PART_OF_REQUEST.exec(pointer) ?? [];
  const path = (part && (pointer.slice(part.length).replaceAll('/', '.') || name)) || 'request';
  // The validator checks a type beside a format with its own keyword.
  const keyword = errorCode.slice(0, errorCode.indexOf('.')).replace('x-eov-type', 'type');
  const parentSchema = name === 'body' ? findParentSchema(pointer, bodySchema) : undefined;
  return { path, message: formatProblem({ keyword, params: parseParams(keyword, message), message, parentSchema }) };
}

const LIMIT = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/;

/** Parses the values in a message of Ajv: `must match pattern "^a"`, `must NOT have more than 3 items`. */
function parseParams(keyword: string, message: string): Record<string, unknown> {
  switch (keyword) {
    case 'type':
      return { type: message.slice('must be '.length).split(',') };
    case 'enum':
      return { allowedValues: [message.slice(message.indexOf(': ') + 2)] };
    case 'pattern':
    case 'format':
      return { [keyword]: message.slice(message.indexOf('"') + 1, -1) };
    default:
      return { limit: Number(LIMIT.exec(message)?.[0]) };
  }
}

/** Finds the schema of the object with the (missing) property; undefined below alternative schemas. */
function findParentSchema(pointer: string, { root, schemas }: BodySchema): Schema | undefined {
  const resolve = (schema: Schema | undefined) => schemas[String(schema?.$ref)] ?? schema;
  let schema = resolve(root);
  for (const name of pointer.split('/').slice(2, -1)) {
    const { properties, items } = (schema ?? {}) as { properties?: Record<string, Schema>; items?: Schema };
    schema = resolve(properties && Object.hasOwn(properties, name) ? properties[name] : items);
  }
  return schema;
}
