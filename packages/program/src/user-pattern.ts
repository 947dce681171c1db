/**
 * User-supplied regular expressions, matched by RE2: its time is the product of pattern and text at worst, where
 * JavaScript's own engine can take exponential time. Their semantics are those of JSON Schema: ECMAScript with the `u`
 * flag. The two dialects look alike but differ (`\s`, `.`, `\p{Letter}`, surrogate pairs), so a pattern is parsed as
 * ECMAScript and rewritten for RE2; constructs that RE2 does not support are rejected.
 */
import { type AST, RegExpParser } from '@eslint-community/regexpp';
import { RE2JS } from 're2js';

export const PATTERN_CHARS_MAX = 500;
/** States of one compiled pattern: repetitions expanded, so that `a{100}` has a hundred. */
const SIZE_MAX = 1_000;
/** RE2's own limit. */
const REPEATED_MAX = 1_000;
/** A Unicode property is one state of many ranges, whose tables cost as much as this many plain states. */
const PROPERTY_SIZE = 10;

/** Limit of all patterns of one list of items: compiling takes some 3 µs per state. */
const TOTAL_SIZE_MAX = 5_000;
const TOTAL_SIZE_PROBLEM = `is too large in combination with the patterns before it: with all repetitions expanded, at most ${TOTAL_SIZE_MAX} states are allowed in total`;

interface ParsedPattern {
  re2: string;
  size: number;
  ast: AST.Pattern;
}

class UnsupportedPatternError extends Error {}

/** Newer syntax is unknown to other readers of the schema. */
const parser = new RegExpParser({ ecmaVersion: 2024 });

/** @returns a problem worded to follow the name of the field */
export function parsePattern(pattern: string): ParsedPattern | { problem: string } {
  // Checked before parsing: the parser recurses and accepts any length.
  if (pattern.length > PATTERN_CHARS_MAX) return { problem: `is longer than ${PATTERN_CHARS_MAX} characters` };
  let ast: AST.Pattern;
  try {
    ast = parser.parsePattern(pattern, 0, pattern.length, { unicode: true });
  } catch {
    return { problem: 'is not a valid regular expression' };
  }
  const size = computeAlternativesSize(ast.alternatives);
  if (size > SIZE_MAX) {
    return {
      problem: `is too large: it has ${size} states with all repetitions expanded; at most ${SIZE_MAX} are allowed`,
    };
  }
  try {
    return { re2: writeAlternatives(ast.alternatives), size, ast };
  } catch (err) {
    if (err instanceof UnsupportedPatternError) return { problem: err.message };
    throw err;
  }
}

/** @returns the problem with each pattern, or null */
export function listPatternProblems(patterns: string[]): (string | null)[] {
  let size = 0;
  return patterns.map((pattern) => {
    const read = parsePattern(pattern);
    if ('problem' in read) return read.problem;
    size += read.size;
    return size > TOTAL_SIZE_MAX ? TOTAL_SIZE_PROBLEM : null;
  });
}

/**
 * The work that one request may spend on patterns, in states times characters. The worst known pattern takes 100 ns per
 * unit, most take 20: a tenth of a second, and 160 KB of text for a pattern as short as `^[a-z]+$`.
 */
const PATTERN_WORK_MAX = 1_000_000;

/** The remaining budget. */
export interface PatternBudget {
  left: number;
}
export const createPatternBudget = (): PatternBudget => ({ left: PATTERN_WORK_MAX });

/** @returns whether the text contains a match, or why that could not be determined */
export type Matcher = (text: string, budget: PatternBudget) => boolean | { problem: string };

/**
 * Creates matchers, also of patterns stored before these rules: a pattern that violates them is reported as a problem
 * on use.
 */
export function createMatchers(): (pattern: string) => Matcher {
  let totalSize = 0;
  return (pattern) => {
    const read = parsePattern(pattern);
    if ('problem' in read) return createRejectingMatcher(read.problem);
    const { re2, size } = read;
    totalSize += size;
    if (totalSize > TOTAL_SIZE_MAX) return createRejectingMatcher(TOTAL_SIZE_PROBLEM);
    return (text, budget) => {
      const work = (size + 1) * (text.length + 1);
      if (work > budget.left) return { problem: 'is too long to be matched against its pattern' };
      budget.left -= work;
      return getEngine(re2, size, work).test(text);
    };
  };
}

const createRejectingMatcher = (problem: string): Matcher => {
  const refused = {
    problem: `can't be checked: its pattern ${problem}. Rewrite or remove the pattern in the definition`,
  };
  return () => refused;
};

/**
 * An engine caches what it learned from texts, some two bytes per unit of work. Beyond this limit all engines are
 * recreated.
 */
const CACHED_WORK_MAX = 20_000_000;
/** Memory of a compiled state in the same unit. */
const COMPILED_WORK = 100;

const engines = new Map<string, RE2JS>();
let cachedWork = 0;

function getEngine(re2: string, size: number, work: number): RE2JS {
  if (cachedWork > CACHED_WORK_MAX) {
    engines.clear();
    cachedWork = 0;
  }
  cachedWork += work;
  const cachedEngine = engines.get(re2);
  if (cachedEngine) return cachedEngine;
  const engine = RE2JS.compile(re2);
  engines.set(re2, engine);
  cachedWork += (size + 1) * COMPILED_WORK;
  return engine;
}

/** Length of the longest text that the pattern matches, with `*` and `+` repeated `repeated` times. */
export function computeLongestMatch(pattern: AST.Pattern, repeated: number): number {
  const computeAlternatives = (alternatives: AST.Alternative[]): number =>
    Math.max(
      0,
      ...alternatives.map(({ elements }) => elements.reduce((sum, element) => sum + computeElement(element), 0)),
    );
  const computeElement = (element: AST.Element): number => {
    if (element.type === 'Quantifier') return computeElement(element.element) * computeMaxCount(element, repeated);
    if (element.type === 'Group' || element.type === 'CapturingGroup') return computeAlternatives(element.alternatives);
    return element.type === 'Assertion' ? 0 : 1;
  };
  return computeAlternatives(pattern.alternatives);
}

const computeMaxCount = ({ min, max }: AST.Quantifier, repeated: number) =>
  max === Number.POSITIVE_INFINITY ? min + repeated : max;

function computeAlternativesSize(alternatives: AST.Alternative[]): number {
  return alternatives.reduce(
    (sum, { elements }) => sum + 1 + elements.reduce((total, element) => total + computeElementSize(element), 0),
    -1,
  );
}

function computeElementSize(element: AST.Element): number {
  switch (element.type) {
    case 'Quantifier':
      return Math.max(1, computeElementSize(element.element)) * Math.max(1, computeMaxCount(element, 1));
    case 'Group':
    case 'CapturingGroup':
      return computeAlternativesSize(element.alternatives);
    case 'CharacterClass':
      return 1 + element.elements.filter(isProperty).length * PROPERTY_SIZE;
    default:
      return isProperty(element) ? PROPERTY_SIZE : 1;
  }
}

const isProperty = (node: AST.Node): boolean => node.type === 'CharacterSet' && node.kind === 'property';

/** Writes groups without captures, since only whether a text matches is needed; greediness does not affect it. */
const writeAlternatives = (alternatives: AST.Alternative[]): string =>
  alternatives.map(({ elements }) => elements.map(writeElement).join('')).join('|');

function writeElement(element: AST.Element): string {
  switch (element.type) {
    case 'Character':
      return writeCodePoint(element.value);
    case 'CharacterSet':
      return writeSet(element);
    case 'CharacterClass':
      return writeClass(element);
    case 'Group':
    case 'CapturingGroup':
      return `(?:${writeAlternatives(element.alternatives)})`;
    case 'Quantifier':
      return `(?:${writeElement(element.element)})${writeQuantifier(element)}`;
    case 'Assertion':
      return writeAssertion(element);
    case 'Backreference':
      throw toUnsupportedError(element, 'a backreference');
    default:
      throw toUnsupportedError(element, 'this');
  }
}

function writeQuantifier({ min, max, raw }: AST.Quantifier): string {
  if (min > REPEATED_MAX || (max > REPEATED_MAX && max !== Number.POSITIVE_INFINITY)) {
    throw new UnsupportedPatternError(`repeats an element more than ${REPEATED_MAX} times: "${truncatePattern(raw)}"`);
  }
  return max === Number.POSITIVE_INFINITY ? `{${min},}` : `{${min},${max}}`;
}

function writeAssertion(assertion: AST.Assertion): string {
  switch (assertion.kind) {
    case 'start':
      return '\\A';
    case 'end':
      return '\\z';
    case 'word':
      return assertion.negate ? '\\B' : '\\b';
    default:
      throw toUnsupportedError(assertion, `a ${assertion.kind}`);
  }
}

const writeCodePoint = (value: number): string => `\\x{${value.toString(16)}}`;

/** The classes of ECMAScript; RE2 has fewer of both. */
const LINE_ENDS = '\\n\\r\\x{2028}\\x{2029}';
const SPACES = `\\t\\x{b}\\f \\x{a0}\\x{feff}\\p{Zs}${LINE_ENDS}`;
/** The complement of SPACES, written out because a character class cannot negate a part of itself. */
const NOT_SPACES =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';

function writeSet(set: AST.CharacterSet): string {
  if (set.kind === 'any') return `[^${LINE_ENDS}]`;
  return `[${writeInClass(set)}]`;
}

function writeClass({ negate, elements, type, unicodeSets }: AST.CharacterClass): string {
  if (unicodeSets) throw new UnsupportedPatternError(`contains a ${type}, which requires the unsupported v flag`);
  if (!elements.length) return negate ? '[\\x{0}-\\x{10ffff}]' : '[^\\x{0}-\\x{10ffff}]';
  return `[${negate ? '^' : ''}${elements.map(writeInClass).join('')}]`;
}

function writeInClass(element: AST.ClassRangesCharacterClassElement | AST.CharacterSet): string {
  switch (element.type) {
    case 'Character':
      return writeCodePoint(element.value);
    case 'CharacterClassRange':
      return `${writeCodePoint(element.min.value)}-${writeCodePoint(element.max.value)}`;
    case 'CharacterSet':
      switch (element.kind) {
        case 'digit':
          return element.negate ? '\\D' : '\\d';
        case 'word':
          return element.negate ? '\\W' : '\\w';
        case 'space':
          return element.negate ? NOT_SPACES : SPACES;
        case 'property':
          return writeProperty(element);
        default:
          throw toUnsupportedError(element, 'this');
      }
  }
}

/** RE2 supports the short names of categories and the long names of scripts. */
const CATEGORIES: Record<string, string> = {
  Cased_Letter: 'LC',
  Close_Punctuation: 'Pe',
  Connector_Punctuation: 'Pc',
  Control: 'Cc',
  cntrl: 'Cc',
  Currency_Symbol: 'Sc',
  Dash_Punctuation: 'Pd',
  Decimal_Number: 'Nd',
  digit: 'Nd',
  Enclosing_Mark: 'Me',
  Final_Punctuation: 'Pf',
  Format: 'Cf',
  Initial_Punctuation: 'Pi',
  Letter: 'L',
  Letter_Number: 'Nl',
  Line_Separator: 'Zl',
  Lowercase_Letter: 'Ll',
  Mark: 'M',
  Combining_Mark: 'M',
  Math_Symbol: 'Sm',
  Modifier_Letter: 'Lm',
  Modifier_Symbol: 'Sk',
  Nonspacing_Mark: 'Mn',
  Number: 'N',
  Open_Punctuation: 'Ps',
  Other: 'C',
  Other_Letter: 'Lo',
  Other_Number: 'No',
  Other_Punctuation: 'Po',
  Other_Symbol: 'So',
  Paragraph_Separator: 'Zp',
  Private_Use: 'Co',
  Punctuation: 'P',
  punct: 'P',
  Separator: 'Z',
  Space_Separator: 'Zs',
  Spacing_Mark: 'Mc',
  Surrogate: 'Cs',
  Symbol: 'S',
  Titlecase_Letter: 'Lt',
  Unassigned: 'Cn',
  Uppercase_Letter: 'Lu',
};

function writeProperty(property: AST.UnicodePropertyCharacterSet): string {
  const { key, value, negate, raw } = property;
  if (key === 'ASCII') return negate ? '\\x{80}-\\x{10ffff}' : '\\x{0}-\\x{7f}';
  const isScript = key === 'Script' || key === 'sc';
  const isCategory = value === null || key === 'General_Category' || key === 'gc';
  const name = isScript ? value : isCategory ? (CATEGORIES[value ?? key] ?? value ?? key) : null;
  const written = `\\${negate ? 'P' : 'p'}{${name}}`;
  if (name === null || !isKnownProperty(written)) {
    throw new UnsupportedPatternError(
      `uses "${raw}", which RE2 does not support; use a category such as \\p{L} or a script such as \\p{Script=Greek}`,
    );
  }
  return written;
}

/** The parser accepts only names that Unicode defines, so there are some hundreds at most. */
const knownProperties = new Map<string, boolean>();

function isKnownProperty(property: string): boolean {
  let isSupported = knownProperties.get(property);
  if (isSupported === undefined) {
    try {
      RE2JS.compile(property);
      isSupported = true;
    } catch {
      isSupported = false;
    }
    knownProperties.set(property, isSupported);
  }
  return isSupported;
}

const toUnsupportedError = ({ raw }: AST.Node, what: string): UnsupportedPatternError =>
  new UnsupportedPatternError(
    `uses ${what} ("${truncatePattern(raw)}"), which RE2, the pattern engine, does not support`,
  );

const truncatePattern = (raw: string): string => (raw.length > 40 ? `${raw.slice(0, 40)}…` : raw);
