/**
 * Finds names that an engineer of this field would not guess, and comments and page texts whose actors have no name.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

export interface Finding {
  file: string;
  line: number;
  /** The name, or the word of a comment or text. */
  found: string;
  rule: 'preposition' | 'permission' | 'stem' | 'participle' | 'error' | 'unnamed actor' | 'no subject';
}

const SKIPPED_DIRS = new Set(['node_modules', 'dist', 'generated']);
/** `trialsOf` hides whether it loads, computes or formats. */
const PREPOSITION = /(Of|In)$/;
/** `at`, `untilStored` and `ofRun` do not tell what they do. In tests, `at(path)` and `ofRun(...)` are local. */
const ONLY_PREPOSITION =
  /^(of|at|by|in|on|from|to|with|without|above|below|beside)$|^(of|at|by|until|unless|when)(?=[A-Z]|$)/;
/** `Received` and `InWorker` name no thing: it is a `ReceivedEvent`, and a `WorkerRequest`. */
const PARTICIPLE = /^[A-Z][a-z]*[^e\W]ed$|^(Told|Sent|Held|Made|Kept|Given|Begun|Found|Bound)$|^(In|Of)[A-Z]/;
const TEST = /\.test\.tsx?$|\/tests?\/|\.cluster\.ts$|^packages\/testing\//;
/** A permission is `canEdit`. */
const PERMISSION = /^may[A-Z]/;
/** Everyday words where the field has one of its own: format, describe, cached, provided, created, revoke, evict. */
const MISLEADING_STEM = /^(say|tell|asked|kept|given|made|leave|takeBack|makeRoom)(?=[A-Z]|$)/;
const FILE_STEM = /-(words|facts|news|things)(?=[.-])/;
/** A docblock begins with a verb and its object, or with the noun that it explains. */
const NO_SUBJECT = /^\/\*\*[\s*]*(What|Who|Whose|Whom|How|Of|To whoever)\b/;
/** Whether a file may have any of these: reading the syntax of all files takes ten times as long. */
const SUSPECT =
  /\*\s+(What|Who\w*|How|Of|To)\b|\w(Of|In)\b|Error\b|(interface|type|class) \w|(function|const) (of|at|by|in|on|from|to|with|above|below|beside|until|unless|when)|\bmay[A-Z]|\b(say|tell|asked|kept|given|made|leave|take|make)([A-Z]|\b)|body\b|whoever|one\b/i;
const UNNAMED_ACTOR = /\b(somebody|nobody|anybody|whoever|someone|anyone)\b/i;
/** In texts of pages, where the pronoun of a shared link is standard. */
const UNNAMED_READER = /\b(somebody|nobody|anybody|whoever|someone)\b/i;

/** @returns findings in the TypeScript of services and packages, tests included */
export function findUnidiomaticNames(root: string): { files: string[]; findings: Finding[] } {
  const files = ['services', 'packages'].flatMap((dir) => listSources(root, dir));
  const findings = files.flatMap((file) => checkSource(file, readFileSync(path.join(root, file), 'utf8')));
  return { files, findings };
}

export function listSources(root: string, dir: string): string[] {
  return readdirSync(path.join(root, dir), { withFileTypes: true }).flatMap((entry) => {
    const name = `${dir}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED_DIRS.has(entry.name) ? [] : listSources(root, name);
    return /(?<!\.d)\.tsx?$/.test(entry.name) ? [name] : [];
  });
}

export function checkSource(file: string, text: string): Finding[] {
  const findings: Finding[] = [];
  if (!SUSPECT.test(text) && !FILE_STEM.test(path.basename(file))) return findings;
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const report = (position: number, found: string, rule: Finding['rule']) =>
    findings.push({ file, line: tree.getLineAndCharacterOfPosition(position).line + 1, found, rule });
  const isTest = TEST.test(file);
  const fileStem = FILE_STEM.exec(path.basename(file));
  if (fileStem) report(0, path.basename(file), 'stem');
  const visit = (node: ts.Node): void => {
    const name = findDeclaredName(node);
    if (name) {
      if (PERMISSION.test(name.text)) report(name.getStart(), name.text, 'permission');
      if (isFunction(node)) {
        const isOnlyPreposition = !isTest && ONLY_PREPOSITION.test(name.text);
        if (PREPOSITION.test(name.text) || isOnlyPreposition) report(name.getStart(), name.text, 'preposition');
        if (MISLEADING_STEM.test(name.text)) report(name.getStart(), name.text, 'stem');
      }
    }
    if (declaresType(node) && node.name) {
      const { text: typeName } = node.name;
      if (!isTest && PARTICIPLE.test(typeName)) report(node.name.getStart(), typeName, 'participle');
      if (extendsError(node) && !typeName.endsWith('Error')) report(node.name.getStart(), typeName, 'error');
    }
    const pageText = file.endsWith('.tsx') && (ts.isJsxText(node) || ts.isStringLiteralLike(node)) && node.text;
    const actor = pageText && UNNAMED_READER.exec(pageText);
    if (actor) report(node.getStart(), actor[0], 'unnamed actor');
    ts.forEachChild(node, visit);
  };
  visit(tree);
  // Listing comments reads every token, and few files have such a word.
  for (const { position, comment } of hasSuspectComment(text) ? listComments(tree, text) : []) {
    const opening = NO_SUBJECT.exec(comment)?.[1];
    if (opening) report(position, opening, 'no subject');
    const actor = UNNAMED_ACTOR.exec(comment);
    if (actor) report(position + actor.index, actor[0], 'unnamed actor');
  }
  return findings;
}

const hasSuspectComment = (text: string): boolean =>
  UNNAMED_ACTOR.test(text) || /\/\*\*[\s*]*(What|Who|How|Of|To)\b/.test(text);

function findDeclaredName(node: ts.Node): ts.Identifier | null {
  const declares =
    ts.isFunctionDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isMethodSignature(node);
  return declares && node.name && ts.isIdentifier(node.name) ? node.name : null;
}

const declaresType = (node: ts.Node) =>
  ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node);

const extendsError = (node: ts.Node): boolean =>
  ts.isClassDeclaration(node) &&
  !!node.heritageClauses?.some(({ types: [type] }) => /Error$/.test(type?.expression.getText() ?? ''));

function isFunction(node: ts.Node): boolean {
  if (ts.isVariableDeclaration(node)) {
    return !!node.initializer && (ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer));
  }
  return ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node);
}

/** Scans for tokens, since a comment belongs to no node, and `//` in a string is none. */
function listComments(tree: ts.SourceFile, text: string): { position: number; comment: string }[] {
  const found = new Map<number, string>();
  const visit = (node: ts.Node): void => {
    for (const range of [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ]) {
      if (!ts.isJsxText(node)) found.set(range.pos, text.slice(range.pos, range.end));
    }
    for (const child of node.getChildren(tree)) visit(child);
  };
  visit(tree);
  return [...found].map(([position, comment]) => ({ position, comment })).sort((a, b) => a.position - b.position);
}
