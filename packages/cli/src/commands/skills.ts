import fs from 'node:fs';
import path from 'node:path';
import { createIdempotencyKey, readApiError, unwrap } from '@gantry/sdk';
import { type GantryCommand, withSession } from '../command';
import { CommandError, usageError } from '../errors';
import { readInput } from '../input-data';
import { printTable } from '../output';
import type { GlobalOptions, Session } from '../session';
import { bold, joinLines, text, toText, yellow } from '../text';

const VISIBILITIES = ['private', 'unlisted', 'public'] as const;
/** Where agents look for skills of a project. */
const AGENT_FOLDERS = ['.agents', '.claude'];
const ZIP_LIMITS = { entries: 20, bytes: 2 * 1024 * 1024 };
const SEARCH_LIMIT = 20;

interface PublishOptions extends GlobalOptions {
  visibility?: string;
  slug?: string;
}

interface InstallOptions extends GlobalOptions {
  to?: string;
}

export function registerSkills(program: GantryCommand): void {
  const skills = program.command('skills').description('Publish, search and install skills');
  skills
    .command('publish')
    .description('Publish a skill or a new version of one')
    .argument('<file>', 'SKILL.md, or the folder that contains it')
    .option('--slug <slug>', 'Update this skill of yours')
    .option('--visibility <name>', `Visibility: ${VISIBILITIES.join(', ')}`)
    .action(withSession<[string], PublishOptions>(publishSkill));
  skills
    .command('search')
    .description('Search the skills that the account can read')
    .argument('<words...>', 'Words in the title, tags or text')
    .action(withSession<[string[]], GlobalOptions>(searchSkills));
  skills
    .command('install')
    .description('Install a skill in the folders that agents read')
    .argument('<slug>', 'Skill slug, as listed by search')
    .option('--to <folder>', 'Target folder (default: existing .agents/skills and .claude/skills)')
    .action(withSession<[string], InstallOptions>(installSkill));
  skills
    .command('save')
    .description('Save a skill to the library of the account')
    .argument('<slug>', 'Skill slug, as listed by search')
    .action(withSession<[string], GlobalOptions>(saveSkill));
}

async function publishSkill(session: Session, pathArgument: string, options: PublishOptions): Promise<void> {
  const file = fs.statSync(pathArgument, { throwIfNoEntry: false })?.isDirectory()
    ? path.join(pathArgument, 'SKILL.md')
    : pathArgument;
  const visibility = VISIBILITIES.find((name) => name === options.visibility);
  if (options.visibility !== undefined && !visibility) {
    throw usageError(`unknown visibility ${options.visibility}`, `Visibilities: ${VISIBILITIES.join(', ')}`);
  }
  const body = { body_md: (await readInput(`@${file}`)).toString(), ...(visibility && { visibility }) };
  const { skills } = await session.connectAll();
  const { slug } = options;
  const skill = await unwrap(
    slug === undefined
      ? skills.POST('/api/v1/skills', { params: { header: { 'Idempotency-Key': createIdempotencyKey() } }, body })
      : skills.PATCH('/api/v1/skills/{slug}', { params: { path: { slug } }, body }),
  );
  session.output.print(skill, () =>
    joinLines([
      text`Published ${bold(skill.slug)}, ${skill.visibility}: ${skill.url}`,
      ...(skill.warnings ?? []).map((warning) => yellow(String(warning))),
    ]),
  );
}

async function searchSkills({ output, connectAll }: Session, terms: string[]): Promise<void> {
  const { skills } = await connectAll();
  const query = { q: terms.join(' '), limit: SEARCH_LIMIT };
  const hits = await unwrap(skills.GET('/api/v1/search', { params: { query } }));
  printTable(output, hits, ['slug', 'title', 'description'], ({ slug, title, description }) => [
    slug,
    title,
    description,
  ]);
}

async function installSkill(session: Session, slug: string, options: InstallOptions): Promise<void> {
  if (!/^[a-z0-9-]{1,64}$/.test(slug)) throw usageError(`invalid skill slug ${slug}`);
  const gantry = await session.connectAll();
  const response = await gantry.request('skills', `/s/${slug}.zip`);
  if (!response.ok) throw await readApiError(response);
  const { readZip } = await import('@gantry/archive');
  const entries = await readZip(Buffer.from(await response.arrayBuffer()), ZIP_LIMITS);
  const content = await entries.find((entry) => entry.path === `${slug}/SKILL.md`)?.content();
  if (!content) throw new CommandError(`the archive of ${slug} contains no SKILL.md`);
  const files = chooseFolders(options.to).map((folder) => path.join(folder, slug, 'SKILL.md'));
  const replaced = files.filter((file) => fs.existsSync(file) && !content.equals(fs.readFileSync(file)));
  if (replaced.length) await session.prompts.confirm(`Replace ${replaced.join(' and ')}?`);
  for (const file of files) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
  }
  session.output.print({ slug, files }, () => joinLines(files.map((file) => text`Wrote ${file}`)));
}

function chooseFolders(to: string | undefined): string[] {
  if (to !== undefined) return [to];
  const present = AGENT_FOLDERS.filter((name) => fs.existsSync(name));
  return (present.length ? present : AGENT_FOLDERS.slice(0, 1)).map((name) => path.join(name, 'skills'));
}

async function saveSkill({ output, connectAll }: Session, slug: string): Promise<void> {
  const { skills } = await connectAll();
  const saved = await unwrap(skills.POST('/api/v1/skills/{slug}/save', { params: { path: { slug } } }));
  output.print(saved, () => toText(`Saved ${saved.slug}`));
}
