/**
 * examples.yaml beside worker.yaml: inputs, what has to be true of the output, and what people and the platform answer
 * meanwhile. Checks are written as those of evaluations.
 */
import fs from 'node:fs';
import path from 'node:path';
import { usageError } from '../errors';
import { locatedError, readYaml, requireMap, type YamlSource } from '../yaml-source';

export const EXAMPLES_FILE = 'examples.yaml';

export type Check =
  | { kind: 'equal'; path?: string; value: unknown; tolerance?: number }
  | { kind: 'contains'; path?: string; value: unknown; ignore_case?: boolean }
  | { kind: 'fails'; error_contains?: string }
  /** Judged on the platform. */
  | { kind: 'schema' }
  | { kind: 'judge' };

export type Example = ReturnType<typeof readExample>;

const FIELDS = ['name', 'inputs', 'output', 'checks', 'approvals', 'models', 'tools', 'calls'];
const CHECK_FIELDS: Record<string, string[]> = {
  equal: ['path', 'value', 'tolerance'],
  contains: ['path', 'value', 'ignore_case'],
  fails: ['error_contains'],
  schema: ['path', 'schema'],
  judge: ['path', 'instructions', 'model', 'threshold'],
};

/** @throws CommandError with file, line and column */
export async function readExamples(dir: string): Promise<Example[]> {
  const file = path.join(dir, EXAMPLES_FILE);
  if (!fs.existsSync(file)) {
    const sample = '- { name: Greets, inputs: { name: Ada }, output: { greeting: "Hello, Ada!" } }';
    throw usageError(`${path.resolve(file)} not found`, `Create one, such as: ${sample}`);
  }
  const source = await readYaml(EXAMPLES_FILE, fs.readFileSync(file, 'utf8'));
  const { value } = source;
  if (!Array.isArray(value) || !value.length) throw locatedError(source, [], 'expected a list of examples');
  return value.map((item: unknown, index) => readExample(source, item, String(index)));
}

function readExample(source: YamlSource, item: unknown, index: string) {
  const fields = requireMap(source, 'expected an example', { place: [index], value: item });
  const unknown = Object.keys(fields).find((field) => !FIELDS.includes(field));
  if (unknown) {
    throw locatedError(source, [index, unknown], `${unknown} is not an example field; fields: ${FIELDS.join(', ')}`);
  }
  const readMap = (field: string): Record<string, unknown> =>
    requireMap(source, `${field}: expected a map`, { place: [index, field], value: fields[field] ?? {} });
  const readList = (field: string): unknown[] => {
    const list = fields[field] ?? [];
    if (Array.isArray(list)) return list;
    throw locatedError(source, [index, field], `${field}: expected a list`);
  };
  const readLists = (field: string): Record<string, unknown[]> => {
    const map = readMap(field);
    for (const [name, list] of Object.entries(map)) {
      if (!Array.isArray(list))
        throw locatedError(source, [index, field, name], `${name}: expected a list of responses`);
    }
    return map as Record<string, unknown[]>;
  };
  const checks = [
    ...('output' in fields ? [{ kind: 'equal' as const, value: fields.output }] : []),
    ...readList('checks').map((check, at) => readCheck(source, check, [index, 'checks', String(at)])),
  ];
  if (!checks.length) throw locatedError(source, [index], 'an example needs an output or checks');
  return {
    name: typeof fields.name === 'string' ? fields.name : `example ${Number(index) + 1}`,
    inputs: readMap('inputs'),
    checks,
    /** In the order in which the code asks. */
    approvals: readList('approvals').map((approval, at) => {
      const place = [index, 'approvals', String(at)];
      const example = 'expected a decision, such as { approve: true, data: { note: fine } }';
      const given = requireMap(source, example, { place, value: approval });
      if (typeof given.approve !== 'boolean') throw locatedError(source, place, 'approve: expected true or false');
      const { by = 'examples.yaml', data = {} } = given;
      return { approve: given.approve, by: String(by), data: data as Record<string, unknown> };
    }),
    models: readList('models'),
    /** By `connection.tool`. */
    tools: readLists('tools'),
    /** By the id of the worker. */
    calls: readLists('calls'),
    /** Where in the file it is. */
    place: source.locate([index]),
  };
}

function readCheck(source: YamlSource, check: unknown, place: string[]): Check {
  const fields = requireMap(source, 'expected a check', { place, value: check });
  const known = Object.hasOwn(CHECK_FIELDS, String(fields.kind)) ? CHECK_FIELDS[String(fields.kind)] : undefined;
  if (!known) {
    throw locatedError(source, [...place, 'kind'], `kind: expected one of ${Object.keys(CHECK_FIELDS).join(', ')}`);
  }
  const unknown = Object.keys(fields).find((field) => field !== 'kind' && !known.includes(field));
  if (unknown) throw locatedError(source, [...place, unknown], `${unknown} is not a field of this check`);
  if (known.includes('value') && !('value' in fields)) throw locatedError(source, place, 'value is missing');
  return fields as Check;
}
