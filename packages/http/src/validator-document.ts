/**
 * Builds documents for express-openapi-validator: some operations of a surface, and their referenced schemas. An
 * instance's cost, per request and in memory, grows with its document.
 */
import { type Operation, SCHEMA_REFERENCE, type Schema } from './openapi-document';

type Content = Record<string, { schema: Schema }>;

interface OperationEntry {
  operationId: string;
  parameters: object[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

export interface ValidatorDocument {
  openapi: '3.1.0';
  info: { title: string; version: string };
  paths: Record<string, Record<string, OperationEntry>>;
  components: { schemas: Record<string, Schema> };
}

/** By reference. */
type Schemas = Record<string, Schema>;

/** The one path of each document: the validator compiles the patterns of paths again for each request. */
export const PATH = '/';

/**
 * Returns the operation's name in place of a method in the validator's document. So the validator finds the operation
 * that authentication and roles were checked for, in one lookup, whatever the request's path.
 */
export const toMethod = ({ id }: Operation): string => id.toLowerCase();

export const buildRequestDocument = (operations: Operation[], schemas: Schemas): ValidatorDocument =>
  buildDocument(operations, schemas, (operation) => ({
    operationId: operation.id,
    parameters: operation.parameters.map((one) => ({ ...one, schema: inlineReference(one.schema, schemas) })),
    ...(operation.body && { requestBody: toRequestBody(operation.body) }),
    responses: {},
  }));

export const buildResponseDocument = (operations: Operation[], schemas: Schemas): ValidatorDocument =>
  buildDocument(operations, schemas, ({ id, responses }) => ({
    operationId: id,
    parameters: [],
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, content]) => [
        status === 'default' ? status : toStatusKey(status),
        { description: '', ...(Object.keys(content).length && { content: toContent(content) }) },
      ]),
    ),
  }));

/** The validator ignores siblings of a parameter's reference, such as a default. */
function inlineReference({ $ref, ...siblings }: Schema, schemas: Schemas): Schema {
  const schema = schemas[String($ref)];
  return schema ? { ...inlineReference(schema, schemas), ...siblings } : siblings;
}

/** The validator leaves unchecked every response whose status compares as 500 or more; this text does not. */
export const toStatusKey = (status: string | number): string => `status ${status}`;

function buildDocument(
  operations: Operation[],
  schemas: Schemas,
  toEntry: (operation: Operation) => OperationEntry,
): ValidatorDocument {
  const entries = Object.fromEntries(operations.map((one) => [toMethod(one), toEntry(one)]));
  if (Object.keys(entries).length < operations.length) throw new Error('operation ids differ only in case');
  const paths = { [PATH]: entries };
  const info = { title: 'Part of a surface', version: '1' };
  return { openapi: '3.1.0', info, paths, components: { schemas: selectSchemas(paths, schemas) } };
}

/**
 * The validator requires a body if its schema has a list `required`, and ignores the request body's `required`
 * (5.6.2, openapi.request.validator.js). Inside `allOf`, it does not see the list of the schema itself.
 */
function toRequestBody({
  required,
  content,
}: NonNullable<Operation['body']>): NonNullable<OperationEntry['requestBody']> {
  const schemas = Object.entries(content).map(([type, schema]): [string, Schema] => {
    const isChecked = schema.format !== 'binary' && Object.keys(schema).length > 0;
    return [type, { allOf: [schema], ...(required && isChecked && { required: [] }) }];
  });
  return { required, content: toContent(Object.fromEntries(schemas)) };
}

const toContent = (schemas: Record<string, Schema>): Content =>
  Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, { schema }]));

/** Selects the schemas that a part of a document references, directly or indirectly. */
function selectSchemas(part: unknown, schemas: Schemas): Record<string, Schema> {
  const selected: Record<string, Schema> = {};
  const visit = (node: unknown) => {
    JSON.stringify(node, (key, value) => {
      const schema = key === '$ref' && typeof value === 'string' ? schemas[value] : undefined;
      const name = schema && (value as string).slice(SCHEMA_REFERENCE.length);
      if (name !== undefined && !Object.hasOwn(selected, name)) {
        selected[name] = schema as Schema;
        visit(schema);
      }
      return value;
    });
  };
  visit(part);
  return selected;
}
