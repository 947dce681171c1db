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
    .description('Run a worker locally, and again after each save')
    .argument('[folder]', 'Worker folder', '.')
    .option('-i, --value <name=value>', 'Input value; for a file input, its path', collectValues, [])
    .option('-d, --data <json>', 'All inputs as JSON; @file reads a file, @- stdin')
    .option('--once', 'Run once; exit with 1 if the run fails')
    .option('--no-sandbox', 'Run the code unsandboxed, with your permissions')
    .option('--artifacts <folder>', 'Folder for artifacts (default: .gantry/artifacts)')
    .addHelpText('after', '\nNo account is required. --yes approves every approval that the code requests.')
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
