/**
 * Parses the YAML between two `---` lines at the beginning of a SKILL.md, as the Agent Skills format defines it
 * (https://agentskills.io/specification): name, description, license, compatibility, metadata, allowed-tools.
 *
 * Whatever cannot be parsed is ignored with a warning; the document is never refused for its header.
 */
import { InvalidYamlError, parseBoundedYaml } from '@gantry/http';
import { stringify } from 'yaml';

export interface FrontMatter {
  name?: string;
  description?: string;
  license?: string;
  compatibility?: string;
  metadata?: Record<string, string>;
  'allowed-tools'?: string;
}

export interface ParsedBody {
  frontMatter: FrontMatter | null;
  /** The text after the front matter, or the whole text. */
  text: string;
  /** Parts that were ignored, with the reason, for the publisher. */
  ignored: string[];
}

const BLOCK = /^\uFEFF?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/;
const BLOCK_CHARS_MAX = 16_384;
/** Enough for 50 entries of metadata with long lists; a full block would hold the event loop for 0.1 s. */
const YAML_LIMITS = { charsMax: BLOCK_CHARS_MAX, tokensMax: 4_000, aliasesMax: 0 };
const VALUE_CHARS_MAX = 1_024;
const METADATA_ENTRIES_MAX = 50;
const KNOWN_FIELDS = new Set(['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools']);

export function parseBody(body: string): ParsedBody {
  const block = BLOCK.exec(body.slice(0, BLOCK_CHARS_MAX));
  if (!block) {
    const ignored = /^\uFEFF?---[ \t]*\r?\n/.test(body)
      ? ['front matter: the closing --- is missing or too far down']
      : [];
    return { frontMatter: null, text: body, ignored };
  }
  const { value, problem } = parseHeader(block[1] ?? '');
  // Two rules around a paragraph are Markdown, not a header.
  if (problem === 'prose')
    return { frontMatter: null, text: body, ignored: ['front matter: not a list of "key: value" pairs'] };
  const text = body.slice(block[0].length);
  if (!value) return { frontMatter: null, text, ignored: [`front matter: ${problem}`] };
  return { ...pickKnownFields(value), text };
}

function parseHeader(source: string): { value?: Record<string, unknown>; problem?: string } {
  try {
    const value = parseBoundedYaml(source, YAML_LIMITS);
    if (value === null || value === undefined) return { problem: 'empty' };
    if (typeof value !== 'object' || Array.isArray(value)) return { problem: 'prose' };
    return { value: value as Record<string, unknown> };
  } catch (err) {
    if (!(err instanceof InvalidYamlError)) throw err;
    return { problem: `not valid YAML (${err.message})` };
  }
}

function pickKnownFields(value: Record<string, unknown>): Omit<ParsedBody, 'text'> {
  const frontMatter: FrontMatter = {};
  const ignored = Object.keys(value)
    .filter((key) => !KNOWN_FIELDS.has(key))
    .map((key) => `front matter: "${key.slice(0, 60)}" is not part of the format; it is kept only in the text`);
  for (const key of ['name', 'description', 'license', 'compatibility'] as const) {
    if (!Object.hasOwn(value, key)) continue;
    const text = toScalarText(value[key]);
    if (text) frontMatter[key] = text;
    else ignored.push(`front matter: "${key}" must be text of at most ${VALUE_CHARS_MAX} characters`);
  }
  if (Object.hasOwn(value, 'allowed-tools')) {
    const tools = value['allowed-tools'];
    const text = toScalarText(
      Array.isArray(tools) ? tools.filter((tool) => typeof tool === 'string').join(' ') : tools,
    );
    if (text) frontMatter['allowed-tools'] = text;
    else ignored.push('front matter: "allowed-tools" must be text or a list of text values');
  }
  if (Object.hasOwn(value, 'metadata')) {
    const metadata = parseMetadata(value.metadata);
    if (metadata) frontMatter.metadata = metadata;
    else ignored.push('front matter: "metadata" must be a map of text values');
  }
  return { frontMatter: Object.keys(frontMatter).length ? frontMatter : null, ignored };
}

function parseMetadata(value: unknown): Record<string, string> | null {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  const entries = Object.entries(value)
    .slice(0, METADATA_ENTRIES_MAX)
    .flatMap(([key, item]): [string, string][] => {
      const text = toScalarText(Array.isArray(item) ? item.filter((one) => typeof one === 'string').join(', ') : item);
      return text && !['__proto__', 'constructor'].includes(key) ? [[key.slice(0, 100), text]] : [];
    });
  return entries.length ? Object.fromEntries(entries) : null;
}

function toScalarText(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return null;
  const text = value.replaceAll('\0', '').trim();
  return text && text.length <= VALUE_CHARS_MAX ? text : null;
}

/** Returns the comma-separated `metadata.tags` that many skills have. */
export const getTags = (frontMatter: FrontMatter | null): string[] | undefined =>
  frontMatter?.metadata?.tags
    ?.split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);

/**
 * Builds a SKILL.md that an agent can install: its name must be that of its folder, and it needs a description. A body
 * with both is returned unchanged, byte for byte.
 */
export function toSkillMd(
  skill: { slug: string; title: string; description: string; license: string | null },
  body: string,
): string {
  const { frontMatter, text } = parseBody(body);
  if (frontMatter?.name === skill.slug && frontMatter.description) return body;
  const header = {
    ...frontMatter,
    name: skill.slug,
    description: skill.description || skill.title,
    ...(skill.license && { license: skill.license }),
  };
  return `---\n${stringify(header, { lineWidth: 0 })}---\n\n${text.replace(/^(?:\s*\n)+/, '')}`;
}
