import { GantryCommand } from './command';
import { registerAccount } from './commands/account';
import { registerApi } from './commands/api';
import { registerApply } from './commands/apply';
import { registerApprovals } from './commands/approvals';
import { registerCompletion } from './commands/completion';
import { registerConfig } from './commands/config';
import { registerDebug } from './commands/debug';
import { registerDeploy } from './commands/deploy';
import { registerDev } from './commands/dev';
import { registerDoctor } from './commands/doctor';
import { registerExport } from './commands/export';
import { registerInit } from './commands/init';
import { registerListen } from './commands/listen';
import { registerLists } from './commands/lists';
import { registerLogs } from './commands/logs';
import { registerMcp } from './commands/mcp';
import { registerOpen } from './commands/open';
import { registerPull } from './commands/pull';
import { registerRun } from './commands/run';
import { registerRuns } from './commands/runs';
import { registerSecrets } from './commands/secrets';
import { registerSkills } from './commands/skills';
import { registerStatus } from './commands/status';
import { registerTest } from './commands/test';
import { registerVersions } from './commands/versions';
import { registerWheel } from './commands/wheel';
import { registerWorkers } from './commands/workers';
import { registerWorkspace } from './commands/workspace';

/** Headings of the help, and the commands below them. */
const GROUPS: [heading: string, registers: ((program: GantryCommand) => void)[]][] = [
  ['Account and server:', [registerAccount, registerWorkspace, registerConfig, registerStatus, registerDoctor]],
  ['Workers on this machine:', [registerInit, registerDev, registerTest, registerDebug, registerListen, registerWheel]],
  ['Workers on the platform:', [registerDeploy, registerPull, registerVersions, registerWorkers, registerOpen]],
  ['Runs:', [registerRun, registerRuns, registerLogs, registerApprovals]],
  ['Workspace:', [registerSecrets, registerLists, registerExport, registerApply]],
  ['Skills and agents:', [registerSkills, registerMcp]],
  ['Everything else:', [registerApi, registerCompletion]],
];

export function createProgram(): GantryCommand {
  const program = new GantryCommand('gantry');
  program
    .description('Deploys, runs and watches workers of Gantry.')
    .version(process.env.GANTRY_CLI_VERSION ?? '0', '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Show help')
    .option('--json', 'Print JSON; one line each while following')
    .option('--fields <names>', 'Print these fields as JSON, such as id,status')
    .option('--profile <name>', 'Use this profile')
    .option('--workspace <id>', 'Act in this workspace')
    .option('-y, --yes', 'Confirm every question')
    .option('--no-input', 'Ask nothing')
    // Printed by main.ts, as JSON where that is asked for.
    .configureOutput({ outputError: () => {} })
    .configureHelp({ showGlobalOptions: true, helpWidth: helpWidth() })
    .showSuggestionAfterError()
    .exitOverride();
  for (const [heading, registers] of GROUPS) {
    program.commandsGroup(heading);
    for (const register of registers) register(program);
  }
  // In the last group; those of the other commands are below "Commands:".
  return program.helpCommand('help [command]', 'Show help of a command');
}

const helpWidth = (): number => Math.min(process.stdout.columns ?? 80, 100);
