/** Returns a form field as trimmed text; empty where it is missing. */
export const getFormText = (formData: FormData, name: string): string => String(formData.get(name) ?? '').trim();

/** Splits a text into trimmed parts, without the empty ones. */
export const splitParts = (text: string, separator: ',' | '\n'): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
