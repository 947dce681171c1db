/**
 * Every regular expression that is written in our sources: TypeScript, Python, the OpenAPI files, the gateway's
 * template.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { isPair, isScalar, LineCounter, parseDocument, visit } from 'yaml';

export interface Expression {
  /** As JavaScript writes it; null where it is put together at run time. */
  source: string | null;
  flags: string;
  file: string;
  line: number;
  /** Text of a comment `Linear: …` right before it, for what no tool can see. */
  reason: string | null;
}

/** Tests and measurements read what we wrote ourselves. */
const EXCLUDED_PATHS = /(^|\/)(node_modules|dist|generated|test)(\/|$)|\.test\.tsx?$|^packages\/testing\/|\.d\.ts$/;

export function findExpressions(root: string): Expression[] {
  const files = ['services', 'packages', 'openapi', 'examples']
    .flatMap((dir) => listFiles(root, dir))
    .filter((file) => !EXCLUDED_PATHS.test(file));
  const readSource = (file: string) => readFileSync(path.join(root, file), 'utf8');
  const python = files.filter((file) => file.endsWith('.py'));
  return files
    .flatMap((file) => {
      if (/\.(m?ts|tsx|[mc]?js)$/.test(file)) return findExpressionsInTypeScript(file, readSource(file));
      if (/^openapi\/.*\.yaml$/.test(file)) return findExpressionsInOpenApi(file, readSource(file));
      if (file.endsWith('nginx.conf.template')) return findExpressionsInNginx(file, readSource(file));
      return [];
    })
    .concat(findExpressionsInPython(python.map((file) => ({ file, text: readSource(file) }))));
}

function listFiles(root: string, dir: string): string[] {
  return readdirSync(path.join(root, dir), { withFileTypes: true }).flatMap((entry) => {
    const name = `${dir}/${entry.name}`;
    if (EXCLUDED_PATHS.test(name)) return [];
    return entry.isDirectory() ? listFiles(root, name) : [name];
  });
}

/** Literals, `new RegExp(...)`, and `pattern: '...'` of a schema. */
export function findExpressionsInTypeScript(file: string, text: string): Expression[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const constants = listConstants(tree);
  const found: Expression[] = [];
  const addExpression = (node: ts.Node, source: string | null, flags: string) => {
    const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    found.push({ source, flags, file, line, reason: findReasonComment(node, text) });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      addExpression(node, node.text.slice(1, end), node.text.slice(end + 1));
    }
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp') {
      const [source, flags] = (node.arguments ?? []).map((argument) => evaluateText(argument, constants));
      addExpression(node, source ?? null, flags ?? '');
    }
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'pattern' && ts.isStringLiteral(node.initializer)) {
      addExpression(node, node.initializer.text, 'u');
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function listConstants(tree: ts.SourceFile): Map<string, ts.Expression> {
  const declared = tree.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations]);
  return new Map(declared.flatMap(({ name, initializer }) => (initializer ? [[name.getText(), initializer]] : [])));
}

/** Null where it takes more than constants of the same file to know it. */
function evaluateText(node: ts.Expression | undefined, constants: Map<string, ts.Expression>): string | null {
  if (!node) return null;
  if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return node.text;
  if (ts.isIdentifier(node)) return evaluateText(constants.get(node.text), constants);
  if (ts.isPropertyAccessExpression(node) && node.name.text === 'source' && ts.isIdentifier(node.expression)) {
    const literal = constants.get(node.expression.text);
    return literal && ts.isRegularExpressionLiteral(literal) ? literal.text.replace(/^\/|\/\w*$/g, '') : null;
  }
  if (!ts.isTemplateExpression(node)) return null;
  return node.templateSpans.reduce<string | null>((text, { expression, literal }) => {
    const value = evaluateText(expression, constants);
    return text === null || value === null ? null : text + value + literal.text;
  }, node.head.text);
}

/** Before the statement, list element or property that it is part of. */
export function findReasonComment(node: ts.Node, text: string, reason = REASON): string | null {
  for (let part: ts.Node | undefined = node; part && !ts.isSourceFile(part); part = part.parent) {
    const comments = ts.getLeadingCommentRanges(text, part.getFullStart()) ?? [];
    const written = comments.map(({ pos, end }) => text.slice(pos, end)).join('\n');
    if (written) return reason.exec(written)?.[1] ?? null;
    // One without braces belongs to its loop or condition.
    if (ts.isStatement(part) && (ts.isBlock(part.parent) || !ts.isStatement(part.parent))) return null;
  }
  return null;
}

const REASON = /\bLinear: (\S.{9,})/;

/** Patterns of schemas, which Ajv compiles with the `u` flag to validate requests. */
export function findExpressionsInOpenApi(file: string, text: string): Expression[] {
  const lines = new LineCounter();
  const found: Expression[] = [];
  visit(parseDocument(text, { lineCounter: lines }), (_key, node) => {
    if (!isPair(node) || !isScalar(node.key) || node.key.value !== 'pattern' || !isScalar(node.value)) return;
    const { line } = lines.linePos(node.value.range?.[0] ?? 0);
    found.push({ source: String(node.value.value), flags: 'u', file, line, reason: null });
  });
  return found;
}

/** `location ~ …` and the left sides of maps. */
export function findExpressionsInNginx(file: string, text: string): Expression[] {
  return text.split('\n').flatMap((line, index) => {
    const source = /^\s*(?:location +~\*? +(.+) \{|"~\*?(.+)" +\S+|~\*?(\S+) +\S+)/.exec(line)?.slice(1).find(Boolean);
    if (source === undefined) return [];
    return [{ source: source.replace(/\$\{\w+\}/g, '1'), flags: '', file, line: index + 1, reason: null }];
  });
}

const PYTHON_FINDER = `
import ast, json, sys
for file in json.load(sys.stdin):
    lines = file["text"].splitlines()
    for node in ast.walk(ast.parse(file["text"])):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)): continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re"): continue
        if node.func.attr not in ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"): continue
        first = node.args[0] if node.args else None
        source = first.value if isinstance(first, ast.Constant) and isinstance(first.value, (str, bytes)) else None
        if isinstance(source, bytes): source = source.decode("latin-1")
        before = lines[node.lineno - 2].strip() if node.lineno > 1 else ""
        print(json.dumps({"file": file["file"], "line": node.lineno, "source": source, "before": before}))
`;

export function findExpressionsInPython(files: { file: string; text: string }[]): Expression[] {
  const { stdout, stderr, status } = spawnSync('python3', ['-c', PYTHON_FINDER], {
    input: JSON.stringify(files),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { file: string; line: number; source: string | null; before: string })
    .map(({ file, line, source, before }) => ({
      source: source === null ? null : source.replaceAll('(?P<', '(?<').replaceAll('\\Z', '$').replaceAll('\\A', '^'),
      flags: '',
      file,
      line,
      reason: REASON.exec(before)?.[1] ?? null,
    }));
}
