/**
 * The manifest of an automation: `manifest.json` beside its code, sent apart from it. The service checks it in full.
 */
import type { CodeProblem } from '../code/code-problem';
import { type Files, textOf } from '../code/files';
import type { InputItem, OutputItem } from '../shell/api';

export const MANIFEST = 'manifest.json';

export interface Manifest {
  /** As it is sent. */
  json: Record<string, unknown>;
  name: string;
  inputs: InputItem[];
  outputs: OutputItem[];
  secrets: string[];
}

export type ReadManifest = Manifest | { problem: CodeProblem };

export function readManifest(files: Files): ReadManifest {
  const text = textOf(files, MANIFEST);
  if (text === null) return wrong(`There is no ${MANIFEST}`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (err) {
    return wrong((err as Error).message);
  }
  if (!isObject(json)) return wrong('The manifest must be a JSON object');
  const { name, inputs = [], outputs = [], secrets_needed: secrets = [] } = json;
  if (typeof name !== 'string' || name === '') return wrong('name: required, must be text');
  const [asked, given] = [itemsOf(inputs), itemsOf(outputs)];
  if (!asked) return wrong('inputs: a list of names, or of objects with a name');
  if (!given) return wrong('outputs: a list of names, or of objects with a name');
  if (!Array.isArray(secrets)) return wrong('secrets_needed: a list of names');
  return {
    ...{ json, name },
    // A bare name is a text that has to be given.
    inputs: asked.map((item) => (typeof item === 'string' ? { name: item, type: 'text', required: true } : item)),
    outputs: given.map((item) => (typeof item === 'string' ? { name: item, type: 'text' } : item)) as OutputItem[],
    secrets: secrets.filter((one) => typeof one === 'string'),
  };
}

export const writeManifest = (manifest: object): string => `${JSON.stringify(manifest, null, 2)}\n`;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function itemsOf(list: unknown): (string | InputItem)[] | null {
  if (!Array.isArray(list)) return null;
  const isItem = (item: unknown) => typeof item === 'string' || (isObject(item) && typeof item.name === 'string');
  return list.every(isItem) ? list : null;
}

/** Browsers give line and column in the message of a syntax error, or only the position, or nothing. */
function wrong(message: string): { problem: CodeProblem } {
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
  return {
    problem: { line: Number(line ?? 1), ...(column && { column: Number(column) }), severity: 'error', message },
  };
}
