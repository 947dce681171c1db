import { invalid } from '@gantry/errors';

const EMAIL_PATTERN = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,189}$/u;

/** Returns the canonical spelling: `" Ada@Example.COM "` signs in as `ada@example.com`. Null for an invalid address. */
export function normaliseEmail(text: string): string | null {
  const email = text.trim().normalize('NFKC').toLowerCase();
  return EMAIL_PATTERN.test(email) ? email : null;
}

const ASCII = /^[ -~]*$/;

/**
 * Returns the canonical spelling of an address that another system has verified. Null if the spellings are equal only
 * for us: the person who receives mail at `ａda@example.com` there may have nothing to do with `ada@example.com` here.
 */
export function normaliseVerifiedEmail(text: string): string | null {
  const email = normaliseEmail(text);
  return ASCII.test(text) || text === email ? email : null;
}

/** @throws AppError 400 */
export function requireEmail(text: string): string {
  const email = normaliseEmail(text);
  if (!email) throw invalid([{ path: 'email', message: 'must be an email address' }]);
  return email;
}
