/** Inputs of a run on this machine, checked as far as its errors would be hard to read otherwise. */
import fs from 'node:fs';
import path from 'node:path';
import { usageError } from '../errors';
import { type InputOptions, parseInputValue, readData, splitPairs } from '../inputs';
import type { InputItem, LocalProgram } from './local-program';

/** A file of this machine. */
export class InputFile {
  constructor(readonly path: string) {}
}

/**
 * @param recordedInputs inputs of a run, which those of the options replace
 * @returns the inputs of `-i` and `-d`. @throws CommandError that names the input
 */
export async function readLocalInputs(
  program: LocalProgram,
  options: InputOptions,
  recordedInputs: Record<string, unknown> | null = null,
): Promise<Record<string, unknown>> {
  const providedInputs = { ...recordedInputs, ...(await readData(options)) };
  for (const [name, value] of splitPairs(options)) {
    const item = program.inputs.find((one) => one.name === name);
    providedInputs[name] = item && item.type !== 'file' ? parseInputValue(item, value) : value;
  }
  return completeInputs(program, providedInputs, process.cwd(), { allowsOthers: recordedInputs !== null });
}

const TYPES: Record<string, [(value: unknown) => boolean, string]> = {
  ...Object.fromEntries(
    ['text', 'textarea', 'date', 'url'].map((type) => [
      type,
      [(value: unknown) => typeof value === 'string', 'a string'],
    ]),
  ),
  number: [(value) => typeof value === 'number', 'a number'],
  integer: [Number.isInteger, 'a whole number'],
  boolean: [(value) => typeof value === 'boolean', 'true or false'],
};

/**
 * With defaults in the place of what is absent. A worker that declares no inputs takes any.
 * @param dir that paths of files begin at
 * @param options `allowsOthers`: inputs that are not declared are kept, as for webhooks. @throws CommandError that
 * names the input
 */
export function completeInputs(
  { inputs, name: program }: Pick<LocalProgram, 'inputs' | 'name'>,
  providedInputs: Record<string, unknown>,
  dir: string,
  { allowsOthers: allowsUnknown = false } = {},
): Record<string, unknown> {
  const others = Object.entries(providedInputs).filter(([name]) => !inputs.some((item) => item.name === name));
  if (others[0] && inputs.length && !allowsUnknown) {
    const known = inputs.map(({ name }) => name).join(', ');
    throw usageError(`${program} has no input ${others[0][0]}; inputs: ${known}`);
  }
  const missing = inputs.filter(
    ({ name, required, default: absent }) => required && providedInputs[name] === undefined && absent === undefined,
  );
  if (missing.length) {
    const names = missing.map(({ name }) => name).join(', ');
    throw usageError(`${program} requires ${names}`, `Set it: -i ${missing[0]?.name}=...`);
  }
  const declared = inputs.flatMap((item): [string, unknown][] => {
    const value = providedInputs[item.name] ?? item.default;
    return value === undefined ? [] : [[item.name, checkValue(item, value, dir)]];
  });
  return Object.fromEntries([...others, ...declared]);
}

function checkValue({ name, type, options }: InputItem, value: unknown, dir: string): unknown {
  if (type === 'file') {
    if (typeof value === 'object') {
      throw usageError(
        `input ${name} is a file, whose content the platform does not return`,
        `Set it: -i ${name}=<path>`,
      );
    }
    const file = path.resolve(dir, String(value));
    if (!fs.existsSync(file)) throw usageError(`input ${name}: no such file: ${file}`);
    return new InputFile(file);
  }
  const [fits, what] = TYPES[type] ?? [];
  if (fits && !fits(value)) throw usageError(`input ${name}: ${JSON.stringify(value)} is not ${what}`);
  const choices = options?.map((option) => (typeof option === 'object' ? option.value : option));
  if (type === 'select' && choices && !choices.some((choice) => choice === value)) {
    throw usageError(`input ${name}: ${JSON.stringify(value)} is not one of ${choices.join(', ')}`);
  }
  return value;
}
