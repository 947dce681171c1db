type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

type InJson<Value> = Value extends Date ? string : Value;

/**
 * Fields of a row under the names that the API gives them: in snake case, and dates as ISO 8601.
 * @example apiFields(session, 'id', 'userAgent', 'createdAt') // { id, user_agent, created_at }
 */
export function apiFields<Row extends object, Name extends keyof Row & string>(row: Row, ...names: Name[]) {
  const fields = names.map((name) => {
    const value = row[name];
    return [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value instanceof Date ? value.toISOString() : value,
    ];
  });
  return Object.fromEntries(fields) as { [Field in Name as SnakeCase<Field>]: InJson<Row[Field]> };
}
