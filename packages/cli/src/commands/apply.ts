import { type GantryCommand, withSession } from '../command';
import { CommandError, describeFailure, type Failure, listUnnamedFields } from '../errors';
import type { GlobalOptions, Session } from '../session';
import { extractTar, STANDARD_STREAM } from '../tar';
import { createTemporaryDir, removeTemporaryDir } from '../temporary-dir';
import { dim, green, joinLines, red, Text, text, yellow } from '../text';
import { diffToJson, formatSummary, isEmpty } from '../worker-diff';
import { readWorkspaceFolder } from '../workspace-folder';
import { type Plan, type PlanItem, planWorkspace } from '../workspace-plan';

interface ApplyOptions extends GlobalOptions {
  dryRun?: boolean;
}

export function registerApply(program: GantryCommand): void {
  program
    .command('apply')
    .description('Apply workers, contexts and alerts from files')
    .argument('<path>', 'Folder, .tar file, or - for stdin')
    .option('--dry-run', 'Show what would change without changing it')
    .addHelpText('after', '\nWorkers, contexts and alerts are never deleted.\nTo create the files: gantry export')
    .action(withSession<[string], ApplyOptions>(applyWorkspace));
}

async function applyWorkspace(session: Session, source: string, { dryRun = false }: ApplyOptions): Promise<void> {
  const gantry = session.gantry();
  const plan = await planWorkspace(gantry, await readSource(source));
  const { output } = session;
  if (dryRun) {
    const items = plan.items.map((item) => itemToJson(item, item.change, [], null));
    output.print({ dry_run: true, ...countItems(items), missing_secrets: plan.missingSecrets, items }, () =>
      joinLines([
        ...plan.items.map((item, index) => formatItem(item, items[index] as AppliedItem)),
        formatTotals(plan, items, ['to create', 'to change']),
      ]),
    );
    return;
  }
  const items: AppliedItem[] = [];
  for (const item of plan.items) {
    const applied = await applyItem(item);
    items.push(applied);
    if (!output.isJson) output.note(formatItem(item, applied));
  }
  output.print({ dry_run: false, ...countItems(items), missing_secrets: plan.missingSecrets, items }, () =>
    formatTotals(plan, items, ['created', 'changed']),
  );
  const failed = items.filter(({ error }) => error);
  if (failed.length) {
    const names = failed.map(({ kind, name }) => `${kind} ${name}`).join(', ');
    throw new CommandError(`not applied: ${names}`, undefined, 'Apply again: completed changes are not repeated');
  }
}

async function readSource(source: string) {
  if (source !== STANDARD_STREAM && !source.endsWith('.tar')) return readWorkspaceFolder(source);
  const dir = createTemporaryDir('gantry-apply-');
  try {
    await extractTar(source, dir);
    return await readWorkspaceFolder(dir);
  } finally {
    removeTemporaryDir(dir);
  }
}

interface AppliedItem {
  kind: PlanItem['kind'];
  name: string;
  change: PlanItem['change'];
  changes: ReturnType<typeof diffToJson>;
  notes: string[];
  error: Pick<Failure, 'message' | 'code' | 'fields'> | null;
}

const itemToJson = (
  { kind, name, diff }: PlanItem,
  change: PlanItem['change'],
  notes: string[],
  error: AppliedItem['error'],
): AppliedItem => ({ kind, name, change, changes: diffToJson(diff), notes, error });

/** One that is refused does not keep the others from being applied: all problems are seen at once. */
async function applyItem(item: PlanItem): Promise<AppliedItem> {
  try {
    const { change, notes } = await item.apply();
    return itemToJson(item, change, notes, null);
  } catch (error) {
    const { message, code, fields, exitCode } = describeFailure(error);
    // Without an account or a server the others fail alike.
    if (code === 'unreachable' || exitCode === 4) throw error;
    return itemToJson(item, item.change, [], { message, code, fields });
  }
}

function countItems(items: AppliedItem[]) {
  const count = (change: PlanItem['change']) => items.filter((item) => !item.error && item.change === change).length;
  const failed = items.filter(({ error }) => error).length;
  return { created: count('create'), changed: count('change'), same: count('same'), failed };
}

const SIGNS = { create: green('create   '), change: yellow('change   '), same: dim('unchanged') };

function formatItem({ diff }: PlanItem, { kind, name, change, notes, error }: AppliedItem): Text {
  return joinLines([
    text`${error ? red('failed   ') : SIGNS[change]} ${kind} ${name}`,
    ...(change === 'change' && !isEmpty(diff) ? [indent(formatSummary(diff))] : []),
    ...notes.map((note) => indent(yellow(note))),
    ...(error ? [indent(red(error.message))] : []),
    ...(error ? listUnnamedFields(error) : []).map(({ path, message }) => indent(text`${path}: ${message}`)),
  ]);
}

const indent = ({ value }: Text): Text => new Text(value.replace(/^/gm, '  '));

function formatTotals({ missingSecrets }: Plan, items: AppliedItem[], verbs: [string, string]): Text {
  const { created, changed, same, failed } = countItems(items);
  return joinLines([
    text`${created} ${verbs[0]}, ${changed} ${verbs[1]}, ${same} unchanged${failed ? `, ${failed} failed` : ''}`,
    ...missingSecrets.map((name) => yellow(`${name} is not set: gantry secrets set ${name}`)),
  ]);
}
