import { type Logger, type LoggerOptions, pino } from 'pino';

/**
 * JSON lines on stdout. Headers, queries and bodies are never logged. What might carry a credential all the same is removed
 * three times: by the name of its field; from errors, of which only what is known to be harmless is kept; and from the
 * finished line, by how our credentials look.
 */
export function createLogger(service: string, level: string): Logger {
  return pino({ name: service, level, base: { service }, ...logOptions });
}

/** For loggers that are no service's, such as those of tests. */
export const logOptions: LoggerOptions = {
  redact: ['*.password', '*.token', '*.secret', '*.authorization', '*.cookie', '*.value'],
  serializers: { err: errorForLog },
  hooks: { streamWrite: withoutSecrets },
};

/** Libraries hang requests, answers and rows on their errors. */
const HARMLESS = ['code', 'status', 'kind', 'severity', 'constraint', 'table', 'routine', 'syscall', 'aggregateErrors'];

export function errorForLog(err: unknown): unknown {
  if (!(err instanceof Error) && !hasRaw(err)) return err;
  const { type, message, stack, ...rest } = hasRaw(err) ? err : pino.stdSerializers.err(err);
  const kept = Object.entries(rest).filter(([name]) => HARMLESS.includes(name));
  return { type, message, stack, ...Object.fromEntries(kept) };
}

type Serialized = ReturnType<typeof pino.stdSerializers.err>;

/** pino-http has been here before. */
const hasRaw = (err: unknown): err is Serialized => err !== null && typeof err === 'object' && 'raw' in err;

/** Tokens, links and device codes of ours, far longer than ids; their kind is enough. */
const TOKEN = /\b([a-z]{3}_)[\w.-]{40,}/g;
const OTHERS: [RegExp, string][] = [
  [/\bwhsec_[\w+/=-]+/g, 'whsec_...'],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g, 'eyJ...'],
  [/\b(Bearer|Basic) +[\w.~+/=-]+/gi, '$1 ...'],
  // As in a query, also of one that was encoded once more.
  [/((?:\b|%3F|%26)(?:sig|token|secret|code|state|password)(?:=|%3D))[^&\s"'\\]+/gi, '$1...'],
  [/(:\/\/[^/\s"':@]*:)[^@\s"'/]+@/g, '$1...@'],
];

/** A line, or a part of one. */
export function withoutSecrets(text: string): string {
  let clean = text.replace(TOKEN, '$1...');
  for (const [pattern, shown] of OTHERS) clean = clean.replace(pattern, shown);
  return clean;
}
