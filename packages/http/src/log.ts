import { type Logger, type LoggerOptions, pino } from 'pino';

/**
 * Logs JSON lines to stdout. Headers, queries and bodies are never logged. Remaining credentials are redacted three
 * times: by field name; from errors, of which only safe fields are kept; and from the finished line, by the format of
 * our credentials.
 */
export function createLogger(service: string, level: string): Logger {
  return pino({ name: service, level, base: { service }, ...logOptions });
}

/** For loggers outside of services, such as those of tests. */
export const logOptions: LoggerOptions = {
  redact: ['*.password', '*.token', '*.secret', '*.authorization', '*.cookie', '*.value'],
  serializers: { err: serializeError },
  hooks: { streamWrite: redactSecrets },
};

/** Safe fields: libraries attach requests, responses and rows to their errors. */
const SAFE_ERROR_FIELDS = [
  'code',
  'status',
  'kind',
  'severity',
  'constraint',
  'table',
  'routine',
  'syscall',
  'aggregateErrors',
];

export function serializeError(err: unknown): unknown {
  if (!(err instanceof Error) && !isSerialized(err)) return err;
  const { type, message, stack, ...rest } = isSerialized(err) ? err : pino.stdSerializers.err(err);
  const safeFields = Object.entries(rest).filter(([name]) => SAFE_ERROR_FIELDS.includes(name));
  return { type, message, stack, ...Object.fromEntries(safeFields) };
}

type SerializedError = ReturnType<typeof pino.stdSerializers.err>;

/** Returns whether pino-http has serialized the error already. */
const isSerialized = (err: unknown): err is SerializedError => err !== null && typeof err === 'object' && 'raw' in err;

/** Our tokens, links and device codes, which are far longer than ids; only the prefix is logged. */
const TOKEN = /\b([a-z]{3}_)[\w.-]{40,}/g;
const SECRET_PATTERNS: [RegExp, string][] = [
  [/\bwhsec_[\w+/=-]+/g, 'whsec_...'],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g, 'eyJ...'],
  [/\b(Bearer|Basic) +[\w.~+/=-]+/gi, '$1 ...'],
  // As in a query, also of one that was encoded once more.
  [/((?:\b|%3F|%26)(?:sig|token|secret|code|state|password)(?:=|%3D))[^&\s"'\\]+/gi, '$1...'],
  [/(:\/\/[^/\s"':@]*:)[^@\s"'/]+@/g, '$1...@'],
];

/** Redacts secrets in a line, or a part of one. */
export function redactSecrets(text: string): string {
  let clean = text.replace(TOKEN, '$1...');
  for (const [pattern, shown] of SECRET_PATTERNS) clean = clean.replace(pattern, shown);
  return clean;
}
