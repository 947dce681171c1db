/** Returns a form field as trimmed text; empty where it is missing. */
export const textIn = (given: FormData, name: string): string => String(given.get(name) ?? '').trim();
