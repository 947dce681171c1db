/**
 * Finds scans within loops, such as `a.filter((x) => b.includes(x))`, in the code of services: their time is the
 * product of two sizes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { findReasonComment } from '../regular-expressions/find-expressions';

export interface NestedScan {
  code: string;
  file: string;
  line: number;
  /** Text of a comment `Bounded: …` above its statement. */
  bound: string | null;
  /** Entry of a bounded-functions test, from a comment `Measured: …` above its statement. */
  measured: string | null;
}

/** Tests, and packages that no service runs. */
const EXCLUDED_PATHS =
  /(^|\/)(node_modules|dist|generated|test)(\/|$)|\.(test|d)\.ts$|^packages\/(dashboard|cli|platform|deploy|sdk|testing)\//;
const BOUND = /\bBounded: (\S.{9,})/;
const MEASURED = /\bMeasured: (.+)/;

/** Methods that call their function once for each element. */
const ITERATION_METHODS =
  /^(map|flatMap|filter|some|every|find(Last)?(Index)?|forEach|reduce(Right)?|sort|toSorted|from|replace(All)?)$/;
/** Methods whose time grows with what they are called on. */
const SCAN_METHODS =
  /^(includes|(lastI|i)ndexOf|find(Last)?(Index)?|some|every|filter|shift|unshift|splice|concat|toSpliced|sort|toSorted|replaceAll)$/;
/** Constants, classes and globals. */
const CONSTANT = /^[A-Z]/;

const { EqualsToken: ASSIGNMENT } = ts.SyntaxKind;

/** A loop, or a function that is called for each element. */
interface Loop {
  /** Names declared within it. A scan of anything else reads the same elements each time. */
  own: Set<string>;
  /** Names that `reduce` gives to what it gathers. */
  gathered: Set<string>;
}

export function findNestedScans(root: string): { files: string[]; scans: NestedScan[] } {
  const files = listServerFiles(root);
  const scans = files.flatMap((file) => findNestedScansInFile(file, readFileSync(path.join(root, file), 'utf8')));
  return { files, scans };
}

/** Lists the sources of services, and of the packages that they run. */
export const listServerFiles = (root: string): string[] =>
  ['services', 'packages']
    .flatMap((dir) => listFiles(root, dir))
    .filter((file) => /^\w+\/[^/]+\/src\/.*\.ts$/.test(file));

function listFiles(root: string, dir: string): string[] {
  return readdirSync(path.join(root, dir), { withFileTypes: true }).flatMap((entry) => {
    const name = `${dir}/${entry.name}`;
    if (EXCLUDED_PATHS.test(entry.isDirectory() ? `${name}/` : name)) return [];
    return entry.isDirectory() ? listFiles(root, name) : [name];
  });
}

export function findNestedScansInFile(file: string, text: string): NestedScan[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const fixed = listFixedNames(tree);
  const found: NestedScan[] = [];
  const visit = (node: ts.Node, loop: Loop | null): void => {
    if (loop && isScan(node, loop, fixed)) {
      found.push({
        code: node.getText().replace(/\s+/g, ' ').slice(0, 100),
        file,
        line: tree.getLineAndCharacterOfPosition(node.getStart()).line + 1,
        bound: findReasonComment(node, text, BOUND),
        measured: findReasonComment(node, text, MEASURED),
      });
    }
    ts.forEachChild(node, (child) => visit(child, findParentLoop(child, fixed) ?? loop));
  };
  visit(tree, null);
  return found;
}

/** Imported names and tables written out in the file: what a request holds makes none of them larger. */
function listFixedNames(tree: ts.SourceFile): Set<string> {
  const imported = tree.statements.filter(ts.isImportDeclaration).flatMap(({ importClause }) => {
    const { name, namedBindings } = importClause ?? {};
    const named = namedBindings && ts.isNamedImports(namedBindings) ? namedBindings.elements : [namedBindings];
    return [name, ...named.map((one) => one?.name)].flatMap((one) => (one ? [one.text] : []));
  });
  const tables = tree.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .filter(({ initializer }) => initializer && isLiteral(initializer))
    .flatMap(({ name }) => listBoundNames(name));
  return new Set([...imported, ...tables]);
}

function isLiteral(node: ts.Expression): boolean {
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) return isLiteral(node.expression);
  return ts.isArrayLiteralExpression(node) || ts.isObjectLiteralExpression(node) || ts.isStringLiteral(node);
}

/** The loop that runs the node for each element, if the node's parent is one. */
function findParentLoop(node: ts.Node, fixedNames: Set<string>): Loop | null {
  const { parent } = node;
  if (ts.isIterationStatement(parent, false)) {
    const isEach = ts.isForOfStatement(parent) || ts.isForInStatement(parent);
    if (isEach && (node === parent.expression || !isDeclaredOutside(parent.expression, fixedNames))) return null;
    if (ts.isForStatement(parent) && node === parent.initializer) return null;
    return { own: listDeclaredNames(parent), gathered: new Set() };
  }
  if (!(ts.isArrowFunction(node) || ts.isFunctionExpression(node)) || !ts.isCallExpression(parent)) return null;
  const { expression: callee } = parent;
  if (!ts.isPropertyAccessExpression(callee) || !ITERATION_METHODS.test(callee.name.text)) return null;
  const [first] = parent.arguments;
  const elements = callee.name.text === 'from' && first ? first : callee.expression;
  if (!isDeclaredOutside(elements, fixedNames)) return null;
  const gathered = new Set(callee.name.text.startsWith('reduce') ? listBoundNames(node.parameters[0]?.name) : []);
  return { own: new Set([...listDeclaredNames(node)].filter((name) => !gathered.has(name))), gathered };
}

function isScan(node: ts.Node, { own, gathered }: Loop, fixedNames: Set<string>): boolean {
  const isOuter = (one: ts.Expression) => isDeclaredOutside(one, fixedNames, own);
  if (ts.isNewExpression(node)) return /^(Set|Map)$/.test(node.expression.getText()) && isOuter(node);
  if (isSpread(node)) return gathered.has(node.expression.getText());
  if (ts.isBinaryExpression(node)) {
    const { left, operatorToken: operator, right } = node;
    return operator.kind === ASSIGNMENT && isOuter(left) && isCopied(left.getText(), right);
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  return SCAN_METHODS.test(node.expression.name.text) && isOuter(node.expression.expression);
}

/** Whether its size depends on a name that is neither fixed nor the loop's own. */
function isDeclaredOutside(node: ts.Expression, fixedNames: Set<string>, loopNames = new Set<string>()): boolean {
  const isOuter = (one: ts.Node): boolean => ts.isExpression(one) && isDeclaredOutside(one, fixedNames, loopNames);
  if (ts.isIdentifier(node))
    return !loopNames.has(node.text) && !fixedNames.has(node.text) && !CONSTANT.test(node.text);
  if (node.kind === ts.SyntaxKind.ThisKeyword) return true;
  if (ts.isArrayLiteralExpression(node)) return node.elements.some((one) => isSpread(one) && isOuter(one.expression));
  if (ts.isNewExpression(node)) return (node.arguments ?? []).some(isOuter);
  if (ts.isBinaryExpression(node)) return isOuter(node.left) || isOuter(node.right);
  if (ts.isCallExpression(node)) {
    const { expression: callee } = node;
    const isMethod = ts.isPropertyAccessExpression(callee) && !CONSTANT.test(callee.getText());
    return isMethod && isOuter(callee.expression) ? true : !isMethod && node.arguments.some(isOuter);
  }
  return 'expression' in node && isOuter(node.expression as ts.Expression);
}

function isSpread(node: ts.Node): node is ts.SpreadElement | ts.SpreadAssignment {
  return ts.isSpreadElement(node) || ts.isSpreadAssignment(node);
}

/** As in `all = [...all, one]` and `all = Buffer.concat([all, one])`. */
function isCopied(name: string, node: ts.Node): boolean {
  if (isSpread(node) && node.expression.getText() === name) return true;
  const isConcat = ts.isCallExpression(node) && node.expression.getText() === 'Buffer.concat';
  if (isConcat && node.arguments[0]?.getText().includes(name)) return true;
  return Boolean(ts.forEachChild(node, (child) => isCopied(name, child) || undefined));
}

function listDeclaredNames(node: ts.Node): Set<string> {
  const names = new Set<string>();
  const visit = (one: ts.Node) => {
    if (ts.isVariableDeclaration(one) || ts.isParameter(one))
      for (const name of listBoundNames(one.name)) names.add(name);
    ts.forEachChild(one, visit);
  };
  visit(node);
  return names;
}

function listBoundNames(name: ts.BindingName | undefined): string[] {
  if (!name) return [];
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((one) => (ts.isBindingElement(one) ? listBoundNames(one.name) : []));
}
