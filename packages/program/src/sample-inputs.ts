/** Example inputs that a program would accept: deterministic for the same items. */
import RandExp from 'randexp';
import { createInputValidator } from './input-validator';
import type { InputItem } from './items';
import { computeLongestMatch, createPatternBudget, parsePattern } from './user-pattern';

const DATE = '2026-01-05';
const SAMPLE_TEXTS = [
  'example',
  'Example 1',
  'ada@example.com',
  '1',
  '42',
  'AB',
  'ABC-123',
  '+49 30 1234567',
  DATE,
  '12:30',
];
/** Limit for a pattern's unbounded repetitions. */
const REPEATED_MAX = 20;
/** Length limit of a text generated from a pattern, with unbounded repetitions limited as above. */
const GENERATED_CHARS_MAX = 10_000;

/**
 * Builds a value for every item except optional files. The value is the first of default, `example`, `examples`,
 * placeholder, first option and some common values that the item's own rules allow; an item for which none is valid is
 * left out.
 */
export function buildSampleInputs(items: InputItem[]): Record<string, unknown> {
  const budget = createPatternBudget();
  return Object.fromEntries(
    items.flatMap((item): [string, unknown][] => {
      if (item.type === 'file' && !item.required) return [];
      const { listProblems: problems } = createInputValidator([item]);
      const isAllowed = (value: unknown) => value !== undefined && !problems({ [item.name]: value }, budget).length;
      const value = listCandidates(item).find(isAllowed);
      return value === undefined ? [] : [[item.name, value]];
    }),
  );
}

function listCandidates(item: InputItem): unknown[] {
  const { example, examples } = item as { example?: unknown; examples?: unknown };
  const declaredValues = [item.default, example, ...(Array.isArray(examples) ? examples.slice(0, 10) : [])];
  return [...declaredValues, ...listCommonValues(item)];
}

function listCommonValues({ type, name, ...item }: InputItem): unknown[] {
  switch (type) {
    case 'number':
    case 'integer': {
      const { minimum, maximum } = item;
      const bounds = [minimum, maximum].flatMap((bound) =>
        bound === undefined ? [] : [bound, Math.ceil(bound), Math.floor(bound)],
      );
      return minimum === undefined && maximum === undefined ? [1] : bounds;
    }
    case 'boolean':
      return [true];
    case 'select':
      return (item.options ?? []).map(({ value }) => value);
    case 'date':
      return [DATE];
    case 'json':
      return [{}];
    case 'file':
      return [buildSampleFile(item.accepts)];
    case 'url':
      return [
        item.placeholder,
        'https://example.com',
        ...generateFittingTexts('https://example.com/', item),
        ...generateMatchingTexts(item),
      ];
    default:
      return [
        item.placeholder,
        ...SAMPLE_TEXTS.flatMap((text) => generateFittingTexts(text, item)),
        name,
        ...generateMatchingTexts(item),
      ];
  }
}

type TextLimits = Pick<InputItem, 'min_length' | 'max_length' | 'pattern'>;

/** Returns the text unchanged if its length is allowed, otherwise truncated or extended. */
function generateFittingTexts(
  text: string,
  { min_length: least = 0, max_length: most = Infinity }: TextLimits,
): string[] {
  if (text.length >= least && text.length <= most) return [text];
  if (text.length > most) return [text.slice(0, most)];
  return least <= 100_000 ? [text.padEnd(least, 'a')] : [];
}

/** Generates texts that match the pattern: the shortest and some longer ones. */
function generateMatchingTexts({ pattern }: TextLimits): string[] {
  if (pattern === undefined) return [];
  const read = parsePattern(pattern);
  if ('problem' in read || computeLongestMatch(read.ast, REPEATED_MAX) > GENERATED_CHARS_MAX) return [];
  try {
    return [0, 0.25, 0.5, 1].map((share) => {
      const generator = new RandExp(pattern);
      generator.max = REPEATED_MAX;
      generator.randInt = (from, to) => from + Math.floor((to - from) * share);
      return generator.gen();
    });
  } catch {
    // The generator supports most of the pattern syntax, not all of it.
    return [];
  }
}

function buildSampleFile(accepts: string[] | undefined) {
  const extension = accepts?.find((entry) => /^\.[A-Za-z0-9.]+$/.test(entry)) ?? '.txt';
  return { name: `example${extension}`, content_base64: Buffer.from('example').toString('base64') };
}
