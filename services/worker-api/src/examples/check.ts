/** Checks of an example, as requests write them. */
import { type FieldProblem, formatIssues, invalid } from '@gantry/errors';
import { isDeeperThan } from '@gantry/http';
import { z } from 'zod';
import { listUncheckedKeywords } from './check-schema';

const DEPTH_MAX = 64;
const CHECKS_CHARS_MAX = 128 * 1024;
/**
 * Bounds an output as it is stored: with spaces, and three bytes for a character, it may take 4.5 times what it does in
 * a check.
 */
export const CHECKED_OUTPUT_BYTES_MAX = 8 * CHECKS_CHARS_MAX;
export const DEFAULT_THRESHOLD = 0.7;

/** A JSON pointer (RFC 6901). */
const isPointer = (text: string): boolean => text === '' || (text.startsWith('/') && !/~(?![01])/.test(text));

const path = z.string().max(1_000).refine(isPointer, 'must be a JSON pointer, such as /report/total').optional();
const value = z.unknown().refine((input) => input !== undefined, 'is required');
const schema = z.record(z.string(), z.unknown()).superRefine((input, context) => {
  for (const message of listUncheckedKeywords(input)) context.addIssue({ code: 'custom', message });
});

const check = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('equal'), path, value, tolerance: z.number().min(0).optional() }),
  z.strictObject({ kind: z.literal('contains'), path, value, ignore_case: z.boolean().optional() }),
  z.strictObject({ kind: z.literal('schema'), path, schema }),
  z.strictObject({
    kind: z.literal('judge'),
    path,
    instructions: z.string().min(1).max(8_000),
    model: z.string().min(1).max(200).optional(),
    threshold: z.number().min(0).max(1).default(DEFAULT_THRESHOLD),
  }),
  z.strictObject({ kind: z.literal('fails'), error_contains: z.string().min(1).max(1_000).optional() }),
]);

export type Check = z.output<typeof check>;
export type JudgeCheck = Extract<Check, { kind: 'judge' }>;

const checks = z
  .array(check)
  .min(1)
  .max(20)
  .superRefine((input, context) => {
    const fails = input.findIndex(({ kind }) => kind === 'fails');
    if (fails === -1 || input.length === 1) return;
    const message = 'must be the only check: a failed run has no output for other checks';
    context.addIssue({ code: 'custom', path: [fails, 'kind'], message });
  });

/** @throws AppError 400 naming each check that cannot be understood */
export function parseChecks(input: unknown): Check[] {
  const problem = findSizeProblem(input);
  if (problem) throw invalid([problem]);
  const parsed = checks.safeParse(input);
  if (parsed.success) return parsed.data;
  throw invalid(formatIssues(parsed.error, ['checks']), 'bad_checks');
}

function findSizeProblem(input: unknown): FieldProblem | null {
  if (isDeeperThan(input, DEPTH_MAX))
    return { path: 'checks', message: `is nested more than ${DEPTH_MAX} levels deep` };
  return JSON.stringify(input).length > CHECKS_CHARS_MAX ? CHECKS_TOO_LARGE : null;
}

export const CHECKS_TOO_LARGE: FieldProblem = {
  path: 'checks',
  message: `is larger than ${CHECKS_CHARS_MAX / 1024} KB; use a path to check part of the output`,
};

export const filterJudges = (checks: Check[]): JudgeCheck[] =>
  checks.filter((one): one is JudgeCheck => one.kind === 'judge');
