/** Passwords: strength rules and hashing (Argon2id, in a separate thread). */
import { randomBytes } from 'node:crypto';
import { invalid } from '@gantry/errors';
import { hash, verify } from '@node-rs/argon2';

/** OWASP's password storage cheat sheet: 19 MiB, two passes, one lane. */
const ARGON2_OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const PASSWORD_CHARS_MIN = 10;
const DISTINCT_CHARS_MIN = 5;

/** Long enough to pass, and first in every list of guesses. */
const COMMON_PASSWORDS =
  /^(1234567890|0123456789|0987654321|qwertyuiop|q1w2e3r4t5|1q2w3e4r5t|password|passw0rd|letmein|welcome|iloveyou|administrator|changeme|abcdefghij|gantry)[\d!?.*#$@_-]*$/i;

/** A password typed on two keyboards normalises to the same code points (NIST SP 800-63B). */
const normalisePassword = (password: string): string => password.normalize('NFKC');

export const hashPassword = (password: string): Promise<string> => hash(normalisePassword(password), ARGON2_OPTIONS);

/** Constant work for an unknown user or one without a password: `storedHash` is null then, and the result false. */
export async function verifyPassword(storedHash: string | null, password: string): Promise<boolean> {
  const isMatch = await verify(storedHash ?? (await getDummyHash()), normalisePassword(password));
  return storedHash !== null && isMatch;
}

let dummyHash: Promise<string> | undefined;
function getDummyHash(): Promise<string> {
  dummyHash ??= hashPassword(randomBytes(32).toString('hex'));
  return dummyHash;
}

/** @throws AppError 400 `weak_password` that names the field */
export function requireStrongPassword(password: string, email: string, field: string): void {
  const problem = findPasswordProblem(password, email);
  if (problem) throw invalid([{ path: field, message: problem }], 'weak_password');
}

/** The problem with a new password, or undefined. */
export function findPasswordProblem(password: string, email: string): string | undefined {
  const characters = [...normalisePassword(password)];
  if (characters.length < PASSWORD_CHARS_MIN) return `at least ${PASSWORD_CHARS_MIN} characters`;
  if (new Set(characters).size < DISTINCT_CHARS_MIN) return `at least ${DISTINCT_CHARS_MIN} different characters`;
  if (COMMON_PASSWORDS.test(normalisePassword(password))) return 'this password is too easy to guess; choose another';
  if (normalisePassword(password).toLowerCase() === email) return 'must not be the email address';
  return undefined;
}
