/** Reads untrusted JSON. */

export type JsonObject = Record<string, unknown>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the value where it is an object; an empty object otherwise. */
export const toJsonObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** Parses JSON; undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
