import { CommanderError } from 'commander';
import { describeFailure, EXIT, type Failure, listUnnamedFields } from './errors';
import { interrupt, terminate } from './interrupt';
import { createProgram } from './program';
import { dim, joinLines, red, text, toText } from './text';

/** Help and the version end Commander with an error of code 0. */
const isHelpExit = (error: unknown) =>
  error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help');

function printFailure(failure: Failure): void {
  if (process.argv.includes('--json')) {
    const { message, hint, code, fields, requestId } = failure;
    process.stderr.write(`${JSON.stringify({ error: { code, message, hint, fields, request_id: requestId } })}\n`);
    return;
  }
  const lines = [
    text`${red('error:')} ${toText(failure.message)}`,
    ...listUnnamedFields(failure).map(({ path, message }) => text`  ${path}: ${message}`),
    ...(failure.hint ? [toText(failure.hint)] : []),
    ...(failure.requestId ? [dim(`request ${failure.requestId}`)] : []),
  ];
  process.stderr.write(`${joinLines(lines)}\n`);
}

// The reader of a pipe, such as `head`, may be content before everything is written.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
});

process.on('SIGINT', interrupt);
// Their default action would leave what this program has started: code of a local run, and its folders.
process.on('SIGHUP', () => process.exit(129));
process.on('SIGTERM', terminate);

createProgram(process.argv[2])
  .then((program) => program.parseAsync())
  .catch((error: unknown) => {
    if (isHelpExit(error)) return;
    const failure = describeFailure(error);
    printFailure(failure);
    process.exitCode = failure.exitCode;
  });
