/** A field of a form as text, without blanks around it; empty where it is not there. */
export const textIn = (given: FormData, name: string): string => String(given.get(name) ?? '').trim();
