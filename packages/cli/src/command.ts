/** Commands as this program declares them: errors name what exists, help fits a terminal of 80 columns. */
import { Command, type ErrorOptions, Help, InvalidArgumentError, type Option } from 'commander';
import { createSession, type GlobalOptions, type Session } from './session';

class GantryHelp extends Help {
  /** Nearly every command has options: naming them would take the place of its description. */
  override subcommandTerm(command: Command): string {
    return super.subcommandTerm(command).replace(' [options]', '');
  }

  /** Commander's own command, below each command that has some. */
  override subcommandDescription(command: Command): string {
    return command.name() === 'help' ? 'Show help for a command' : super.subcommandDescription(command);
  }

  override optionDescription(option: Option): string {
    return super.optionDescription(option).replace(' (default: [])', '');
  }
}

export class GantryCommand extends Command {
  /** Commander's. */
  declare unknownCommand: () => never;

  override createHelp(): Help {
    return Object.assign(new GantryHelp(), this.configureHelp());
  }

  override createCommand(name?: string): GantryCommand {
    return new GantryCommand(name);
  }

  /** From the program down to this command. */
  private getCommandPath(): Command[] {
    const commands: Command[] = [];
    for (let one: Command | null = this; one; one = one.parent) commands.unshift(one);
    return commands;
  }

  /** Adds the next step, where Commander has not found one. */
  override error(message: string, options?: ErrorOptions): never {
    const names = this.getCommandPath().map((one) => one.name());
    const hasStep = message.includes('\n');
    return super.error(hasStep ? message : `${message}\nSee: ${names.join(' ')} --help`, options);
  }

  /** Suggests the command of this one whose name is the nearest. */
  rejectCommand(name: string): never {
    this.args = [name];
    return this.unknownCommand();
  }

  /** Called by Commander. A misspelt command is an argument of the default one, where there is one. */
  _excessArguments(values: string[]): never {
    const { parent } = this;
    const [name] = values;
    if (parent instanceof GantryCommand && name !== undefined && parent.args[0] === name) parent.rejectCommand(name);
    const count = this.registeredArguments.length;
    return this.error(
      `error: ${this.name()} takes ${count || 'no'} argument${count === 1 ? '' : 's'}, but got ${values.length}`,
    );
  }

  /** Called by Commander, whose own message names no other options. */
  unknownOption(flag: string): never {
    const names = this.getCommandPath()
      .reverse()
      .flatMap(({ options }) => options.flatMap(({ long }) => long ?? []));
    return this.error(`error: unknown option ${flag}; options: ${names.join(', ')}, --help`, {
      code: 'commander.unknownOption',
    });
  }
}

type Handler<Args extends unknown[], Options> = (session: Session, ...rest: [...Args, Options]) => Promise<void>;

/** Runs a command with its session, its arguments and its own options. */
export function withSession<Args extends unknown[] = [], Options = GlobalOptions>(handler: Handler<Args, Options>) {
  return async (...received: unknown[]): Promise<void> => {
    const command = received.at(-1) as Command;
    const options = command.optsWithGlobals<GlobalOptions & Options>();
    const args = received.slice(0, -2) as Args;
    await handler(createSession(options), ...args, options);
  };
}

/** For options that may be given several times. */
export const collectValues = (value: string, before: string[]): string[] => [...before, value];

/** For options that are a number of things. @throws InvalidArgumentError, to which Commander adds the option */
export function parseCount(value: string): number {
  const count = Number(value);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('Expected a positive integer.');
  return count;
}
