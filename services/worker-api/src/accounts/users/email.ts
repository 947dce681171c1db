const SHAPE = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,189}$/u;

/** One spelling for each address: `" Ada@Example.COM "` signs in as `ada@example.com`. Null if it can't be an address. */
export function normaliseEmail(text: string): string | null {
  const email = text.trim().normalize('NFKC').toLowerCase();
  return SHAPE.test(email) ? email : null;
}
