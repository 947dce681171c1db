import { type Logger, pino } from 'pino';

/** JSON lines on stdout. Headers and bodies are never logged; what might carry a credential is removed by name as well. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    name: service,
    level,
    base: { service },
    redact: ['*.password', '*.token', '*.secret', '*.authorization', '*.cookie', '*.value'],
  });
}
