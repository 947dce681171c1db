const LITERAL_NAME = /^[a-z0-9_.-]{1,253}$/;

/** A name as patterns and certificates have it: in lower case, without the trailing dot. Null for anything but a name. */
export function plainName(host: string): string | null {
  const name = host.toLowerCase().replace(/\.$/, '');
  return LITERAL_NAME.test(name) ? name : null;
}
