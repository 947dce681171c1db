/**
 * The public view of a run that was started from a public link, for visitors who are not members: its outcome, output
 * and files, but no tracebacks, file paths, names of secrets, steps or requests.
 *
 * The only place that decides this, for the run as a whole and for each event of its streams.
 */
import type { RunError, RunErrorCode } from '@gantry/events';
import type { Run, TellEvent, Wording } from '@gantry/run-engine';
import { type RunResult, wordingOf } from '../runs/run-result';
import type { PageAccess } from './page-access';

const NOT_SET_UP = 'this automation is not fully set up yet';

/** Replaces messages that are meant for the author or the operator. */
const SAID_INSTEAD: Partial<Record<RunErrorCode, string>> = {
  missing_secret: NOT_SET_UP,
  dependency_install: NOT_SET_UP,
  sandbox: 'this automation could not be run',
};

/** The KeyError message of `os.environ["API_KEY"]` when the variable is not set. */
const NAME_OF_VARIABLE = /^'[A-Z][A-Z0-9_]*'$/;
/** File paths inside the sandbox, which has no others. */
const PLACE_IN_SANDBOX = /(?<![\w./:])\/(?:code|deps|contexts|usr|lib|lib64|etc|dev|proc|tmp|host)\b[^\s'",;:)]*/g;
/** The location at the end of Python's SyntaxError message. */
const LINE_OF_CODE = / \([^()]*, line \d+\)$/;
const TRACE_LINE = /^\s*(?:Traceback \(most recent call last\):|File "[^"]*", line \d+)/;

export function shownTo<T extends Partial<RunResult>>(access: PageAccess, run: Run, shown: T): T {
  if (access.kind === 'member') return shown;
  const { result, error } = shown;
  return {
    ...shown,
    ...(result && { result: { ...result, logs: withoutTraces(result.logs) } }),
    ...(error && { error: shownError(run, error) }),
  };
}

export function shownEvents(access: PageAccess, run: Run): Wording {
  const wording = wordingOf(run);
  if (access.kind === 'member') return wording;
  const { status, output, done } = wording.of;
  return {
    name: 'strangers',
    of: {
      status: (data) => status(shownStatus(run, data)),
      log: shownLine,
      artifact: ({ artifact_id, name, content_type, size, sha256 }) => ({
        artifact_id,
        name,
        content_type,
        size,
        sha256,
      }),
      progress: (data) => data,
      output,
      done,
    },
    others: 'left out',
  };
}

const shownLine: TellEvent = ({ stream, level, text, fields }) => {
  // The failure of a step, with a message of the code.
  if (stream === 'platform' && level === 'error') return null;
  const said = withoutTraces(String(text));
  return said || !text ? { stream, level, text: said, ...(fields !== undefined && { fields }) } : null;
};

function shownStatus(run: Run, { status, error, retry_at }: Record<string, unknown>): Record<string, unknown> {
  return {
    status,
    ...(error !== undefined && { error: error && shownError(run, error as RunError) }),
    ...(retry_at !== undefined && { retry_at }),
  };
}

function shownError(run: Run, { code, message, type }: RunError): RunError {
  return { code, message: SAID_INSTEAD[code] ?? shownMessage(run, message, type), ...(type && { type }) };
}

function shownMessage({ spec }: Run, message: string, type: string | undefined): string {
  if (type === 'SecretNotAvailable' || (type === 'KeyError' && NAME_OF_VARIABLE.test(message))) return NOT_SET_UP;
  const said = withoutTraces(message).replace(LINE_OF_CODE, '').replace(PLACE_IN_SANDBOX, '...');
  // Linear: a name of letters, digits and underscores, as it is.
  // Bounded: 50 names (`secretNames` of packages/program) and 1,000 characters (ERROR_MESSAGE_MAX of the engine).
  return spec.secrets.reduce((text, name) => text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), '...'), said);
}

function withoutTraces(text: string): string {
  const lines = text.split('\n');
  const said = lines.filter((line) => !TRACE_LINE.test(line));
  return said.length === lines.length ? text : said.join('\n');
}
