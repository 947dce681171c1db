/** JSON against the schemas of the OpenAPI documents, and against those that are made of them. */
import fs from 'node:fs';
import { openapiFiles, type Surface } from '@gantry/openapi';
import { Ajv2020 } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

// biome-ignore lint/suspicious/noExplicitAny: nodes of a document are read field by field
type Node = any;

export interface ApiSchemas {
  /** A schema of the components by its name. */
  named(surface: Surface, name: string): object;
  /** @throws Error for an answer that is not documented */
  response(surface: Surface, method: string, path: string, status: number): object;
  /** @returns the first problem with where it is; null: the value fits */
  findProblem(schema: object, value: unknown): string | null;
}

const toId = (surface: Surface): string => `openapi:/${surface}.json`;

export function readApiSchemas(): ApiSchemas {
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  addFormats(ajv as never);
  const documents = new Map<Surface, Node>();
  for (const surface of Object.keys(openapiFiles) as Surface[]) {
    const document = JSON.parse(fs.readFileSync(openapiFiles[surface], 'utf8'));
    resolveReferences(document, toId(surface));
    documents.set(surface, document);
    ajv.addSchema(document, toId(surface));
  }
  const deref = (surface: Surface, node: Node): Node =>
    typeof node?.$ref === 'string'
      ? node.$ref
          .split('#/')[1]
          .split('/')
          .reduce((parent: Node, key: string) => parent[key], documents.get(surface))
      : node;
  return {
    named: (surface, name) => ({ $ref: `${toId(surface)}#/components/schemas/${name}` }),
    response(surface, method, path, status) {
      const { responses } = documents.get(surface).paths[path]?.[method] ?? {};
      const schema = deref(surface, responses?.[status])?.content?.['application/json']?.schema;
      if (!schema) throw new Error(`${surface} documents no JSON for ${status} of ${method} ${path}`);
      return schema;
    },
    findProblem(schema, value) {
      const validate = ajv.compile(schema);
      if (validate(value)) return null;
      const [error] = validate.errors ?? [];
      return `${error?.instancePath || 'the value'} ${error?.message} ${JSON.stringify(error?.params)}`;
    },
  };
}

/** So that any part of a document means the same wherever it is taken to. */
function resolveReferences(node: Node, base: string): void {
  if (node === null || typeof node !== 'object') return;
  if (typeof node.$ref === 'string' && node.$ref.startsWith('#')) node.$ref = base + node.$ref;
  for (const child of Object.values(node)) resolveReferences(child, base);
}
