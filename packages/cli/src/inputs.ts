/** Inputs of a run, from `-i name=value` and `-d`. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Gantry, unwrap, type WorkerSchemas } from '@gantry/sdk';
import { usageError } from './errors';
import { readInput } from './input-data';

export interface InputOptions {
  /** `name=value` each. */
  value: string[];
  data?: string;
}

type Item = WorkerSchemas['Worker']['inputs'][number];

const TEXT_TYPES = new Set(['text', 'textarea', 'date', 'url']);

/** @returns the inputs by name; those of `-i` win over those of `-d`. @throws CommandError that names the input */
export async function readInputs(
  gantry: Gantry,
  workerId: string,
  options: InputOptions,
): Promise<Record<string, unknown>> {
  const inputValues = await readData(options);
  if (!options.value.length) return inputValues;
  const { inputs } = await unwrap(
    gantry.worker.GET('/api/workers/{worker_id}', { params: { path: { worker_id: workerId } } }),
  );
  const items = new Map(inputs.map((item) => [item.name, item]));
  for (const [name, value] of splitPairs(options)) {
    const item = items.get(name) ?? { name, type: 'text' };
    inputValues[name] = item.type === 'file' ? await readFileInput(name, value) : parseInputValue(item, value);
  }
  return inputValues;
}

export const readData = async ({ data }: InputOptions): Promise<Record<string, unknown>> =>
  data === undefined ? {} : parseObject(await readInput(data));

/** @throws CommandError */
export function splitPairs({ value: pairs }: InputOptions): [name: string, value: string][] {
  return pairs.map((pair) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined) throw usageError(`-i ${pair}: expected name=value`);
    return [name, value];
  });
}

function parseObject(content: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(content.toString());
  } catch (error) {
    throw usageError(`-d: invalid JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw usageError('-d: expected an object of inputs, such as {"region": "north"}');
  }
  return value as Record<string, unknown>;
}

async function readFileInput(name: string, file: string): Promise<unknown> {
  const content = await readFile(file).catch((error: Error) => {
    throw usageError(`-i ${name}=${file}: cannot read the file: ${error.message}`);
  });
  return { name: path.basename(file), content_base64: content.toString('base64') };
}

/** Gives a text its JSON type. Whether the value fits is checked later. */
export function parseInputValue({ type, options }: Pick<Item, 'type' | 'options'>, value: string): unknown {
  if (type === 'select') return options?.find((option) => String(option.value) === value)?.value ?? value;
  if (TEXT_TYPES.has(type)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
