/** Returns inputs entered as one JSON value; an empty object where it is no object. */
export const toObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
