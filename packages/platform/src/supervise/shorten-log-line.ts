const CHARS = 300;
const ERROR = 50;
const WARN = 40;

/** A pino line as its message and that of the error it carries; any other line as it is. */
export function shortenLogLine(line: string): string {
  try {
    const { level, msg, err } = JSON.parse(line);
    const word = level >= ERROR ? 'error: ' : level >= WARN ? 'warning: ' : '';
    const reason = err?.message && err.message !== msg ? ` (${err.message})` : '';
    return `${word}${msg ?? ''}${reason}`.slice(0, CHARS);
  } catch {
    return line.slice(0, CHARS);
  }
}
