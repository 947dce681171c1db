/** An OpenAPI file as what can be asked and what may be answered. */
import fs from 'node:fs';
import path from 'node:path';
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: nodes of a document are read field by field
export type Node = any;

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  required: boolean;
  schema: Node;
}

export interface FuzzedOperation {
  surface: string;
  id: string;
  method: string;
  /** As documented: `/api/runs/{run_id}`. */
  path: string;
  parameters: Parameter[];
  /** By content type; empty without a body. */
  bodies: Record<string, { schema: Node; examples: unknown[] }>;
  /** The reason why the file does not allow this answer; undefined if it does. */
  findProblem(answer: { status: number; contentType: string | undefined; body: Buffer }): string | undefined;
}

export interface Document {
  operations: FuzzedOperation[];
  /** The node that a node refers to; a node that refers to none is returned as it is. */
  deref(node: Node): Node;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head'];
/** Makes every reference absolute, so that any part of a file means the same wherever it is taken to. */
const BASE = 'fuzz:/';

export function readDocument(surface: string, file: string): Document {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: false });
  addFormats(ajv as never);
  const files = new Map<string, Node>();

  function load(name: string): Node {
    const known = files.get(name);
    if (known) return known;
    const document = parse(fs.readFileSync(path.join(path.dirname(file), name), 'utf8'));
    files.set(name, document);
    resolveReferences(document, name);
    ajv.addSchema(document as AnySchemaObject, BASE + name);
    return document;
  }

  function resolveReferences(node: Node, name: string): void {
    if (node === null || typeof node !== 'object') return;
    if (typeof node.$ref === 'string' && !node.$ref.startsWith(BASE)) {
      const [target = '', pointer = ''] = node.$ref.split('#');
      if (target) load(target);
      node.$ref = `${BASE}${target || name}#${pointer}`;
    }
    for (const child of Object.values(node)) resolveReferences(child, name);
  }

  function deref(node: Node): Node {
    let found = node;
    while (typeof found?.$ref === 'string') {
      const [target = '', pointer = ''] = found.$ref.slice(BASE.length).split('#');
      found = pointer
        .split('/')
        .slice(1)
        .reduce((parent: Node, key: string) => parent?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], load(target));
    }
    return found;
  }

  const document = load(path.basename(file));
  const operations: FuzzedOperation[] = [];
  for (const [template, item] of Object.entries<Node>(document.paths)) {
    for (const method of METHODS.filter((one) => one in item)) {
      const operation = item[method];
      const parameters: Node[] = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(deref);
      const bodies = deref(operation.requestBody)?.content ?? {};
      operations.push({
        surface,
        id: operation.operationId,
        method: method.toUpperCase(),
        path: template,
        parameters: parameters.map((one) => ({ ...one, required: Boolean(one.required) })),
        bodies: Object.fromEntries(
          Object.entries<Node>(bodies).map(([type, { schema, example, examples }]) => [
            type,
            {
              schema,
              examples: [
                ...(example === undefined ? [] : [example]),
                ...Object.values<Node>(examples ?? {}).map((one) => deref(one).value),
              ],
            },
          ]),
        ),
        findProblem: createResponseChecker(ajv, deref, operation.responses),
      });
    }
  }
  return { operations, deref };
}

function createResponseChecker(
  ajv: Ajv2020,
  deref: Document['deref'],
  responses: Node,
): FuzzedOperation['findProblem'] {
  const compiled = new Map<Node, ReturnType<Ajv2020['compile']>>();
  function compileValidator(schema: Node) {
    const validate = compiled.get(schema) ?? ajv.compile(schema);
    compiled.set(schema, validate);
    return validate;
  }

  return ({ status, contentType, body }) => {
    const response = deref(responses[status] ?? responses[`${String(status)[0]}XX`] ?? responses.default);
    if (!response) return `${status} is not documented`;
    if (status < 400 && !responses[status] && !responses[`${String(status)[0]}XX`])
      return `${status} is not documented`;
    const documented: Record<string, Node> = response.content ?? {};
    if (body.length === 0) return undefined;
    if (Object.keys(documented).length === 0) {
      return status === 302 ? undefined : `${status} has a body, and the file knows of none`;
    }
    const type = (contentType ?? '').split(';')[0]?.trim() ?? '';
    const match = documented[type] ?? documented['*/*'];
    if (!match) return `${status} is ${type || 'of no type'}, not ${Object.keys(documented).join(' or ')}`;
    if (type !== 'application/json' || !documented[type]?.schema) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(body.toString());
    } catch {
      return `${status} is no JSON: ${body.toString().slice(0, 100)}`;
    }
    const validate = compileValidator(match.schema);
    if (validate(value)) return undefined;
    const [first] = validate.errors ?? [];
    return `${status} at ${first?.instancePath || '/'} ${first?.message}: ${body.toString().slice(0, 200)}`;
  };
}
