import { ApiError } from '@gantry/sdk';
import { CommanderError } from 'commander';

export const EXIT = { ok: 0, failed: 1, usage: 2, signedOut: 4 } as const;

/** A failure with what to do about it; anything else that is thrown is a bug. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
    readonly hint?: string,
  ) {
    super(message);
  }
}

export const usageError = (message: string, hint?: string) => new CommandError(message, EXIT.usage, hint);

/** The next step where a run lacks a secret. */
export const SECRET_HINT = 'Set it: gantry secrets set <name>';

const CANCELLED = 'cancelled';
export const cancelledError = () => new CommandError(CANCELLED, EXIT.usage);

export interface Failure {
  message: string;
  hint: string | undefined;
  exitCode: number;
  code: string;
  fields: { path: string; message: string }[];
  requestId: string | null;
}

/** The fields that the message does not name itself. */
export const listUnnamedFields = ({ message, fields }: Pick<Failure, 'message' | 'fields'>): Failure['fields'] =>
  fields.filter((field) => !message.includes(`${field.path}: ${field.message}`));

/** Describes a failure in one line, with the next step. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof CommandError) {
    const { message, hint, exitCode } = error;
    return { message, hint, exitCode, code: toErrorCode(error), fields: [], requestId: null };
  }
  if (error instanceof CommanderError) {
    const [message = '', ...steps] = error.message.replace(/^error: /, '').split('\n');
    return { message, hint: steps.join(' '), exitCode: EXIT.usage, code: 'usage', fields: [], requestId: null };
  }
  if (error instanceof ApiError) {
    const { message, code, fields, requestId } = error;
    const exitCode = error.status === 401 && code !== 'not_json' ? EXIT.signedOut : EXIT.failed;
    return { message, hint: suggestRemedy(error), exitCode, code, fields, requestId };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { message, hint: undefined, exitCode: EXIT.failed, code: 'failed', fields: [], requestId: null };
}

function toErrorCode({ message, exitCode }: CommandError): string {
  if (message === CANCELLED) return CANCELLED;
  if (exitCode === EXIT.signedOut) return 'signed_out';
  return exitCode === EXIT.usage ? 'usage' : 'failed';
}

/** Lists that name what the server does not find, by how its message begins. */
const LIST_COMMANDS = { worker: 'workers', run: 'runs', approval: 'approvals', secret: 'secrets' } as const;

function suggestListCommand(message: string): string | undefined {
  const kind = /^no (worker|run|approval|secret)\b/.exec(message)?.[1] as keyof typeof LIST_COMMANDS | undefined;
  return kind && `See: gantry ${LIST_COMMANDS[kind]} list`;
}

/** A server that responds, but not as the address says. @returns undefined for anything else */
function suggestTlsFix(cause: unknown): string | undefined {
  const { code = '', message } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : { message: '' };
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'Protocol mismatch: should the URL begin with http:?';
  if (!/CERT|^UNABLE_TO_(GET|VERIFY)/.test(code)) return undefined;
  return `The certificate was rejected: ${message}. To trust a CA: NODE_EXTRA_CA_CERTS=<file>`;
}

function suggestRemedy({ status, code, retryAfter, message, cause }: ApiError): string | undefined {
  if (code === 'not_json') return 'Check the URL: gantry config';
  if (status === 401) return 'Sign in: gantry login';
  if (code === 'unreachable') {
    return suggestTlsFix(cause) ?? 'Check that the server is running and the URL is correct: gantry config';
  }
  if (status === 404 && code === 'not_found') return suggestListCommand(message);
  if (status >= 502 && code === 'unknown') return 'The server may be starting, or a proxy cannot reach it: try again';
  if (code === 'unknown' && status === 404) return 'The server may be older than this CLI: gantry status';
  if (status === 403 && /workspace/.test(message)) return 'Choose a workspace: gantry workspace list';
  if (retryAfter !== null && status === 429) return `Try again in ${retryAfter} s`;
  if (code === 'missing_secret') return SECRET_HINT;
  return undefined;
}
