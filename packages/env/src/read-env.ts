/** The configuration of a process: environment variables, each of which may instead be the content of a file. */
import fs from 'node:fs';
import type { z } from 'zod';

type Variables = Record<string, string | undefined>;

/** EX_CONFIG of sysexits.h: starting again does not help. */
const INVALID_CONFIGURATION = 78;

/** Configuration that cannot be used. One line per problem; none contains a value that came from a file. */
export class InvalidEnvError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join('\n'));
  }
}

/** As parseEnv, for the process itself: writes the problems to stderr and exits with 78. */
export function readEnv<T extends z.ZodObject>(schema: T, env: Variables = process.env): z.infer<T> {
  try {
    return parseEnv(schema, env);
  } catch (err) {
    if (!(err instanceof InvalidEnvError)) throw err;
    process.stderr.write(err.problems.map((problem) => `invalid configuration: ${problem}\n`).join(''));
    process.exit(INVALID_CONFIGURATION);
  }
}

/**
 * For each variable `X` of the schema, `X_FILE` names a file with its value, without one final newline.
 * @throws InvalidEnvError with every problem at once
 */
export function parseEnv<T extends z.ZodObject>(schema: T, env: Variables): z.infer<T> {
  const values = { ...env };
  const problems = new Map<string, string>();
  for (const name of Object.keys(schema.shape)) {
    const file = env[`${name}_FILE`];
    if (!file) continue;
    try {
      if (env[name] !== undefined) throw new Error(`set either ${name} or ${name}_FILE, not both`);
      values[name] = readContent(file);
    } catch (err) {
      problems.set(name, `${name}_FILE: ${(err as Error).message}`);
    }
  }
  const parsed = schema.safeParse(values);
  const invalid = parsed.error?.issues.filter(({ path }) => !problems.has(String(path[0]))) ?? [];
  if (parsed.success && !problems.size) return parsed.data;
  throw new InvalidEnvError([...problems.values(), ...invalid.map((issue) => formatIssue(issue, env, values))]);
}

function readContent(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (err) {
    throw new Error(`cannot read ${file}: ${(err as Error).message.split(',')[0]}`);
  }
}

function formatIssue({ code, path, message }: z.core.$ZodIssue, env: Variables, values: Variables): string {
  const name = String(path[0]);
  if (code === 'invalid_type' && values[name] === undefined) return `${name}: set ${name} or ${name}_FILE`;
  const file = env[`${name}_FILE`];
  return `${file ? `${name}, from ${file}` : name}: ${message}`;
}
