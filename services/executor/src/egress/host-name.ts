const LITERAL_NAME = /^[a-z0-9_.-]{1,253}$/;

/**
 * Normalizes a host name as in patterns and certificates: lower case, no trailing dot. Null for anything but a name.
 */
export function normalizeHostName(host: string): string | null {
  const name = host.toLowerCase().replace(/\.$/, '');
  return LITERAL_NAME.test(name) ? name : null;
}
