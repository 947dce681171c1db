/**
 * Parses untrusted YAML. A YAML parser recurses, and a stack overflow in it can end the process. The nesting is
 * therefore counted on the tokens, which are read without recursion, and only shallow documents are parsed.
 */
import { CST, type Document, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, Parser, parseDocument } from 'yaml';

export interface YamlLimits {
  charsMax: number;
  /** Line ends, spaces, signs, texts: about ten microseconds each. */
  tokensMax: number;
  /** An alias repeats its anchor's value: a few are useful, many are an attack. */
  aliasesMax: number;
}

const DEPTH_MAX = 64;
/** Values and keys, with aliases expanded. */
const NODES_MAX = 20_000;

/** Its message starts with the position: `line 3, column 5: …`. */
export class InvalidYamlError extends Error {}

/**
 * Parses one document of plain values: keys are text, and a value occurs twice only if written twice or aliased.
 * @returns undefined for a document without content
 * @throws InvalidYamlError
 */
export function parseBoundedYaml(text: string, limits: YamlLimits): unknown {
  const { charsMax } = limits;
  if (text.length > charsMax) throw new InvalidYamlError(`it is longer than ${charsMax} characters`);
  const lines = new LineCounter();
  const reject = (offset: number, message: string): never => {
    const { line, col } = lines.linePos(offset);
    throw new InvalidYamlError(`line ${line}, column ${col}: ${message}`);
  };
  assertTokenLimits(text, lines, limits, reject);
  // Pretty errors would each quote their whole line.
  const document = parseDocument(text, { schema: 'core', prettyErrors: false, logLevel: 'error', uniqueKeys: false });
  const [error] = document.errors;
  if (error) return reject(error.pos[0], error.message);
  assertNodeLimits(document, reject);
  return document.contents ? document.toJS({ maxAliasCount: -1 }) : undefined;
}

type Reject = (offset: number, message: string) => never;

/** Bounds the depth, the tokens and the aliases before anything is built. */
function assertTokenLimits(
  text: string,
  lines: LineCounter,
  { tokensMax, aliasesMax }: YamlLimits,
  reject: Reject,
): void {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let tokens = 0;
  let aliases = 0;
  let previous = '';
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser;
    if (++tokens > tokensMax) reject(offset, `it has more than ${tokensMax} tokens`);
    // The text of a scalar follows its mark, and may begin like an alias.
    const isAlias = previous !== CST.SCALAR && CST.tokenType(lexeme) === 'alias';
    previous = lexeme;
    if (isAlias && ++aliases > aliasesMax) {
      reject(offset, aliasesMax ? `it has more than ${aliasesMax} aliases` : 'aliases are not allowed');
    }
    for (const token of parser.next(lexeme)) if (token.type === 'error') reject(token.offset, token.message);
    // The document itself and the value that is being read are on the stack too.
    if (parser.stack.length > DEPTH_MAX + 2) reject(offset, `it is nested deeper than ${DEPTH_MAX} levels`);
  }
}

/** Requires text keys that are unique, and bounds the number of values with every alias expanded. */
function assertNodeLimits(document: Document.Parsed, reject: Reject): void {
  const sizes = new Map<string, number>();
  let total = 0;
  const countNodes = (node: unknown): number => {
    const size = 1 + countChildren(node);
    total = Math.max(total, size);
    if (total > NODES_MAX) reject(getOffset(node), `it has more than ${NODES_MAX} values with all aliases expanded`);
    const { anchor } = (node ?? {}) as { anchor?: string };
    if (anchor) sizes.set(anchor, size);
    return size;
  };
  const countChildren = (node: unknown): number => {
    if (isAlias(node))
      return sizes.get(node.source) ?? reject(getOffset(node), `there is no anchor "${node.source}" before this alias`);
    if (isSeq(node)) return node.items.reduce<number>((sum, item) => sum + countNodes(item), 0);
    if (!isMap(node)) return 0;
    const keys = new Set<string>();
    return node.items.reduce((sum, { key, value }) => {
      if (!isScalar(key)) return reject(getOffset(key ?? node), 'a key must be text');
      const name = String(key.value);
      if (keys.has(name)) reject(getOffset(key), `the key "${name.slice(0, 60)}" appears twice`);
      keys.add(name);
      return sum + 1 + countNodes(value);
    }, 0);
  };
  countNodes(document.contents);
}

const getOffset = (node: unknown): number => (node as { range?: [number, number, number] } | null)?.range?.[0] ?? 0;
