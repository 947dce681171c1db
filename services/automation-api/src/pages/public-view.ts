/**
 * The public view of a run that was started from a public link, for visitors who are not members: its outcome, output
 * and files, but no tracebacks, file paths, names of secrets, steps or requests.
 *
 * The only place that decides this, for the run as a whole and for each event of its streams.
 */
import type { RunError, RunErrorCode } from '@gantry/events';
import type { FormatEvent, Run, StreamFormat } from '@gantry/run-engine';
import { createEventMapper, type RunResult } from '../runs/run-result';
import type { PageAccess } from './page-access';

const NOT_SET_UP_MESSAGE = 'this automation is not fully set up yet';

/** Replaces messages that are meant for the author or the operator. */
const PUBLIC_MESSAGES: Partial<Record<RunErrorCode, string>> = {
  missing_secret: NOT_SET_UP_MESSAGE,
  dependency_install: NOT_SET_UP_MESSAGE,
  sandbox: 'this automation could not be run',
};

/** The KeyError message of `os.environ["API_KEY"]` when the variable is not set. */
const QUOTED_VARIABLE_NAME = /^'[A-Z][A-Z0-9_]*'$/;
/** File paths inside the sandbox, which has no others. */
const SANDBOX_PATH = /(?<![\w./:])\/(?:code|deps|contexts|usr|lib|lib64|etc|dev|proc|tmp|host)\b[^\s'",;:)]*/g;
/** The location at the end of Python's SyntaxError message. */
const SYNTAX_ERROR_LOCATION = / \([^()]*, line \d+\)$/;
const TRACE_LINE = /^\s*(?:Traceback \(most recent call last\):|File "[^"]*", line \d+)/;

export function toPublicResult<T extends Partial<RunResult>>(access: PageAccess, run: Run, publicResult: T): T {
  if (access.kind === 'member') return publicResult;
  const { result, error } = publicResult;
  return {
    ...publicResult,
    ...(result && { result: { ...result, logs: stripTraces(result.logs) } }),
    ...(error && { error: toPublicError(run, error) }),
  };
}

export function toPublicEvents(access: PageAccess, run: Run): StreamFormat {
  const wording = createEventMapper(run);
  if (access.kind === 'member') return wording;
  const { status, output, done } = wording.of;
  return {
    name: 'strangers',
    of: {
      status: (data) => status(toPublicStatus(run, data)),
      log: toPublicLine,
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

const toPublicLine: FormatEvent = ({ stream, level, text, fields }) => {
  // The failure of a step, with a message of the code.
  if (stream === 'platform' && level === 'error') return null;
  const visible = stripTraces(String(text));
  return visible || !text ? { stream, level, text: visible, ...(fields !== undefined && { fields }) } : null;
};

function toPublicStatus(run: Run, { status, error, retry_at }: Record<string, unknown>): Record<string, unknown> {
  return {
    status,
    ...(error !== undefined && { error: error && toPublicError(run, error as RunError) }),
    ...(retry_at !== undefined && { retry_at }),
  };
}

function toPublicError(run: Run, { code, message, type }: RunError): RunError {
  return { code, message: PUBLIC_MESSAGES[code] ?? toPublicMessage(run, message, type), ...(type && { type }) };
}

function toPublicMessage({ spec }: Run, message: string, type: string | undefined): string {
  if (type === 'SecretNotAvailable' || (type === 'KeyError' && QUOTED_VARIABLE_NAME.test(message)))
    return NOT_SET_UP_MESSAGE;
  const visible = stripTraces(message).replace(SYNTAX_ERROR_LOCATION, '').replace(SANDBOX_PATH, '...');
  // Linear: a name of letters, digits and underscores, as it is.
  // Bounded: 50 names (`secretNames` of packages/program) and 1,000 characters (ERROR_MESSAGE_MAX of the engine).
  return spec.secrets.reduce((text, name) => text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), '...'), visible);
}

function stripTraces(text: string): string {
  const lines = text.split('\n');
  const visible = lines.filter((line) => !TRACE_LINE.test(line));
  return visible.length === lines.length ? text : visible.join('\n');
}
