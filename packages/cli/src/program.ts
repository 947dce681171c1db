import type { Command } from 'commander';
import { GantryCommand } from './command';

/** The commands that a module registers, and the module. */
type CommandModule = [names: string, load: () => Promise<Register>];
type Register = (program: GantryCommand) => void;

/** Headings of the help, and the commands below them. A module is evaluated when one of its commands is used. */
const GROUPS: [heading: string, modules: CommandModule[]][] = [
  [
    'Account and server:',
    [
      ['login logout whoami', async () => (await import('./commands/account.ts')).registerAccount],
      ['workspace', async () => (await import('./commands/workspace.ts')).registerWorkspace],
      ['config', async () => (await import('./commands/config.ts')).registerConfig],
      ['status', async () => (await import('./commands/status.ts')).registerStatus],
      ['doctor', async () => (await import('./commands/doctor.ts')).registerDoctor],
    ],
  ],
  [
    'Local development:',
    [
      ['init', async () => (await import('./commands/init.ts')).registerInit],
      ['dev', async () => (await import('./commands/dev.ts')).registerDev],
      ['test', async () => (await import('./commands/test.ts')).registerTest],
      ['debug', async () => (await import('./commands/debug.ts')).registerDebug],
      ['listen', async () => (await import('./commands/listen.ts')).registerListen],
      ['wheel', async () => (await import('./commands/wheel.ts')).registerWheel],
    ],
  ],
  [
    'Deployed workers:',
    [
      ['deploy diff', async () => (await import('./commands/deploy.ts')).registerDeploy],
      ['pull', async () => (await import('./commands/pull.ts')).registerPull],
      ['versions rollback', async () => (await import('./commands/versions.ts')).registerVersions],
      ['workers', async () => (await import('./commands/workers.ts')).registerWorkers],
      ['open', async () => (await import('./commands/open.ts')).registerOpen],
    ],
  ],
  [
    'Runs:',
    [
      ['run', async () => (await import('./commands/run.ts')).registerRun],
      ['runs', async () => (await import('./commands/runs.ts')).registerRuns],
      ['logs', async () => (await import('./commands/logs.ts')).registerLogs],
      ['approvals', async () => (await import('./commands/approvals.ts')).registerApprovals],
    ],
  ],
  [
    'Workspace:',
    [
      ['secrets', async () => (await import('./commands/secrets.ts')).registerSecrets],
      [
        'automations contexts connections alerts tokens members',
        async () => (await import('./commands/lists.ts')).registerListCommands,
      ],
      ['export', async () => (await import('./commands/export.ts')).registerExport],
      ['apply', async () => (await import('./commands/apply.ts')).registerApply],
    ],
  ],
  [
    'Skills and agents:',
    [
      ['skills', async () => (await import('./commands/skills.ts')).registerSkills],
      ['mcp', async () => (await import('./commands/mcp.ts')).registerMcp],
    ],
  ],
  [
    'Other commands:',
    [
      ['api', async () => (await import('./commands/api.ts')).registerApi],
      ['completion', async () => (await import('./commands/completion.ts')).registerCompletion],
    ],
  ],
];

/** @param name of the only command that is needed; absent, or not a command: all of them */
export async function createProgram(name?: string): Promise<GantryCommand> {
  const program = new GantryCommand('gantry');
  program
    .description('Deploy, run and monitor Gantry workers')
    .version(process.env.GANTRY_CLI_VERSION ?? '0', '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Show help')
    .option('--json', 'Print JSON; one object per line when following')
    .option('--fields <names>', 'Print only these fields as JSON, such as id,status')
    .option('--profile <name>', 'Profile to use')
    .option('--workspace <id>', 'Workspace to use')
    .option('-y, --yes', 'Answer yes to all confirmations')
    .option('--no-input', 'Disable all prompts')
    // Printed by main.ts, as JSON where that is asked for.
    .configureOutput({ outputError: () => {} })
    .configureHelp({ showGlobalOptions: true, helpWidth: getHelpWidth() })
    .showSuggestionAfterError()
    .exitOverride();
  for (const [heading, modules] of selectGroups(name)) {
    program.commandsGroup(heading);
    for (const [, load] of modules) (await load())(program);
  }
  registerHelp(program);
  return program;
}

/** Commander's own shows the help of the first name alone. */
function registerHelp(program: GantryCommand): void {
  program
    .helpCommand(false)
    .command('help')
    .description('Show help for a command')
    .argument('[command...]', 'Command, such as runs list')
    .action((names: string[]) => {
      let command: Command = program;
      for (const name of names) {
        const found = command.commands.find((one) => one.name() === name);
        if (!found) return (command as GantryCommand).rejectCommand(name);
        command = found;
      }
      command.help();
    });
}

/** Completion lists the commands that there are. */
function selectGroups(name: string | undefined): typeof GROUPS {
  if (name === '--version' || name === '-V') return [];
  if (name === 'completion') return GROUPS;
  for (const [heading, modules] of GROUPS) {
    const found = modules.find(([names]) => names.split(' ').includes(name ?? ''));
    if (found) return [[heading, [found]]];
  }
  return GROUPS;
}

const getHelpWidth = (): number => Math.min(process.stdout.columns ?? 80, 100);
