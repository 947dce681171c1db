/**
 * The manifest of an automation: `manifest.json` beside its code, sent apart from it. The service checks it in full.
 */
import type { CodeProblem } from '../code/code-problem';
import { type Files, findText } from '../code/files';
import type { InputItem, OutputItem } from '../shell/api';
import { isJsonObject, type JsonObject } from '../ui/json';

export const MANIFEST_PATH = 'manifest.json';

export interface Manifest {
  /** As it is sent. */
  json: JsonObject;
  name: string;
  inputs: InputItem[];
  outputs: OutputItem[];
  secrets: string[];
}

export type ParsedManifest = Manifest | { problem: CodeProblem };

export function parseManifest(files: Files): ParsedManifest {
  const text = findText(files, MANIFEST_PATH);
  if (text === null) return buildManifestProblem(`${MANIFEST_PATH} is missing`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (err) {
    return buildManifestProblem((err as Error).message);
  }
  if (!isJsonObject(json)) return buildManifestProblem('The manifest must be a JSON object');
  const { name, inputs = [], outputs = [], secrets_needed: secrets = [] } = json;
  if (typeof name !== 'string' || name === '') return buildManifestProblem('name is required and must be a string');
  const [inputItems, outputItems] = [parseItems(inputs), parseItems(outputs)];
  if (!inputItems) return buildManifestProblem('inputs must be a list of names or of objects with a “name” field');
  if (!outputItems) return buildManifestProblem('outputs must be a list of names or of objects with a “name” field');
  if (!Array.isArray(secrets)) return buildManifestProblem('secrets_needed must be a list of names');
  return {
    json,
    name,
    // A bare name is a text that has to be given.
    inputs: inputItems.map((item) => (typeof item === 'string' ? { name: item, type: 'text', required: true } : item)),
    outputs: outputItems.map((item) =>
      typeof item === 'string' ? { name: item, type: 'text' } : item,
    ) as OutputItem[],
    secrets: secrets.filter((one) => typeof one === 'string'),
  };
}

export const formatManifest = (manifest: object): string => `${JSON.stringify(manifest, null, 2)}\n`;

function parseItems(list: unknown): (string | InputItem)[] | null {
  if (!Array.isArray(list)) return null;
  const isItem = (item: unknown) => typeof item === 'string' || (isJsonObject(item) && typeof item.name === 'string');
  return list.every(isItem) ? list : null;
}

/** Browsers give line and column in the message of a syntax error, or only the position, or nothing. */
function buildManifestProblem(message: string): { problem: CodeProblem } {
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
  return {
    problem: { line: Number(line ?? 1), ...(column && { column: Number(column) }), severity: 'error', message },
  };
}
