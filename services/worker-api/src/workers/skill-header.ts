/**
 * Name and description in the front matter of a SKILL.md (https://agentskills.io/specification), with the line of each
 * problem.
 */
import { InvalidYamlError, parseBoundedYaml } from '@gantry/http';
import { toPlainText } from '../connections/request-template';

export interface SkillHeader {
  name: string;
  /** On one line, without characters that cannot be seen. */
  description: string;
}

export interface HeaderProblem {
  /** The line in the file, from 1. */
  line: number;
  message: string;
}

export const DESCRIPTION_CHARS_MAX = 1_024;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const NAME_CHARS_MAX = 64;
const HEADER_CHARS_MAX = 8_192;
/** Bounds the time for parsing: twenty files are read for one request. */
const YAML_LIMITS = { charsMax: HEADER_CHARS_MAX, tokensMax: 1_000, aliasesMax: 0 };

/** @returns what can be read, and every problem of the rest */
export function readSkillHeader(text: string): { header: Partial<SkillHeader>; problems: HeaderProblem[] } {
  const lines = text.slice(0, HEADER_CHARS_MAX).split(/\r?\n/);
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---');
  if (lines[0]?.replace('\ufeff', '').trimEnd() !== '---' || end < 0) {
    const message = 'has no front matter; begin the file with a --- line, a name, a description and another --- line';
    return { header: {}, problems: [{ line: 1, message }] };
  }
  const findLine = (key: string) =>
    1 +
    Math.max(
      0,
      lines.slice(0, end).findIndex((line) => line.startsWith(`${key}:`)),
    );
  try {
    const fields = parseBoundedYaml(lines.slice(1, end).join('\n'), YAML_LIMITS);
    const read = isObject(fields) ? fields : {};
    const name = findNameProblem(read.name);
    const description = findDescriptionProblem(read.description);
    return {
      header: {
        ...(name === null && { name: String(read.name) }),
        ...(description === null && { description: toPlainText(String(read.description)) }),
      },
      problems: [
        ...(name === null ? [] : [{ line: findLine('name'), message: `name ${name}` }]),
        ...(description === null ? [] : [{ line: findLine('description'), message: `description ${description}` }]),
      ],
    };
  } catch (err) {
    if (!(err instanceof InvalidYamlError)) throw err;
    return { header: {}, problems: [{ line: 1, message: `the front matter is not valid YAML: ${err.message}` }] };
  }
}

function findNameProblem(name: unknown): string | null {
  if (name === undefined || name === null) return 'is missing from the front matter';
  if (typeof name !== 'string' || !NAME.test(name) || name.length > NAME_CHARS_MAX) {
    return `must be 1 to ${NAME_CHARS_MAX} characters: lower-case letters and digits, optionally separated by single hyphens, such as release-notes`;
  }
  return null;
}

function findDescriptionProblem(description: unknown): string | null {
  if (description === undefined || description === null) return 'is missing from the front matter';
  if (typeof description !== 'string') return 'must be text';
  if (description.length > DESCRIPTION_CHARS_MAX) {
    return `has ${description.length} characters; the limit is ${DESCRIPTION_CHARS_MAX}`;
  }
  return toPlainText(description) ? null : 'must not be empty';
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
