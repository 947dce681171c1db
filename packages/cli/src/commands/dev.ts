import { collectValues, type GantryCommand, withSession } from '../command';
import type { InputOptions } from '../inputs';
import { createApprovalPrompt } from '../local-run/approval-prompt';
import { readLocalInputs } from '../local-run/local-inputs';
import { loadProgram } from '../local-run/local-program';
import { runLocally } from '../local-run/local-run';
import { type LocalOptions, printDifferences, showEvents, withLocalRuntime } from '../local-run/local-runtime';
import { runOnceOrWatch } from '../local-run/watch-run';
import type { GlobalOptions, Session } from '../session';

interface DevOptions extends GlobalOptions, InputOptions, LocalOptions {
  once?: boolean;
}

export function registerDev(program: GantryCommand): void {
  program
    .command('dev')
    .description('Run a worker on this machine, again after each save.')
    .argument('[folder]', 'The folder', '.')
    .option('-i, --value <name=value>', 'An input; the value of a file is its path', collectValues, [])
    .option('-d, --data <json>', 'All inputs as JSON; @file reads it, @- reads stdin')
    .option('--once', 'Run once, and exit with 1 if it fails')
    .option('--no-sandbox', 'Run the code with your rights')
    .option('--artifacts <folder>', 'Where files of the run go; absent: .gantry/artifacts')
    .addHelpText('after', '\nIt needs no account. --yes approves what the code asks a person.')
    .action(withSession<[string], DevOptions>(runDevCommand));
}

async function runDevCommand(session: Session, dir: string, options: DevOptions): Promise<void> {
  await withLocalRuntime(session, dir, options, (means) =>
    runOnceOrWatch(session, dir, options.once, async (signal) => {
      const program = await loadProgram(dir);
      const inputs = await readLocalInputs(program, options);
      printDifferences(session, program, means.hasSandbox);
      const answers = createApprovalPrompt(session);
      return runLocally(program, inputs, { ...means, answers, onEvent: showEvents(session), signal });
    }),
  );
}
