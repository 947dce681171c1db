import fs from 'node:fs';
import path from 'node:path';
import { type GantryCommand, withSession } from '../command';
import { usageError } from '../errors';
import type { GlobalOptions, Session } from '../session';
import { fillTemplate, TEMPLATES } from '../templates';
import { bold, formatArgument, joinLines, text, toText } from '../text';

interface InitOptions extends GlobalOptions {
  template?: string;
}

export function registerInit(program: GantryCommand): void {
  program
    .command('init')
    .description('Create a worker from a template')
    .argument('[folder]', 'Worker folder; its name becomes the worker name', '.')
    .option('-t, --template <name>', `Template: ${Object.keys(TEMPLATES).join(', ')}`)
    .action(withSession<[string], InitOptions>(createFolder));
}

async function createFolder(session: Session, dir: string, options: InitOptions): Promise<void> {
  const name = options.template ?? (await chooseTemplate(session));
  const template = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined;
  if (!template) throw usageError(`unknown template ${name}`, `Templates: ${Object.keys(TEMPLATES).join(', ')}`);
  const target = path.resolve(dir);
  const files = fillTemplate(template, path.basename(target), process.env.GANTRY_PYTHON_TYPES ?? '');
  const taken = Object.keys(files).filter((file) => fs.existsSync(path.join(target, file)));
  if (taken.length) throw usageError(`${target} already contains ${taken.join(', ')}`, 'Choose another folder');
  fs.mkdirSync(target, { recursive: true });
  for (const [file, content] of Object.entries(files))
    fs.writeFileSync(path.join(target, file), content, { flag: 'wx' });
  session.output.print({ folder: target, template: name, files: Object.keys(files) }, () =>
    joinLines([
      text`Created ${bold(target)}: ${Object.keys(files).join(', ')}`,
      toText(dir === '.' ? 'Next: gantry deploy' : `Next: gantry deploy ${formatArgument(dir)}`),
    ]),
  );
}

async function chooseTemplate({ prompts }: Session): Promise<string> {
  if (!prompts.isInteractive) return 'minimal';
  const choices = Object.entries(TEMPLATES).map(([value, { about }]) => ({ value, label: `${value}: ${about}` }));
  return prompts.select('Which template?', choices);
}
