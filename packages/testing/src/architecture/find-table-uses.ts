/** Every place in the sources where SQL or Prisma reads or writes a table. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

export interface TableUse {
  table: string;
  file: string;
  line: number;
}

export interface Schema {
  tables: Set<string>;
  /** Tables by the names that Prisma's clients give their models. */
  models: Map<string, string>;
}

/** Migrations are history, and tests read what they assert. */
const EXCLUDED_PATHS =
  /(^|\/)(node_modules|dist|generated|test|migrations)(\/|$)|\.test\.tsx?$|^packages\/testing\/|\.d\.ts$/;

const createFileReader = (root: string) => (file: string) => readFileSync(path.join(root, file), 'utf8');

export function findTableUses(root: string): TableUse[] {
  const schema = readSchema(root);
  const read = createFileReader(root);
  return ['services', 'packages']
    .flatMap((dir) => listFiles(root, dir))
    .flatMap((file) => {
      if (file.endsWith('.ts')) return findTableUsesInTypeScript(file, read(file), schema);
      return file.endsWith('.sql') ? findTableUsesInSql(read(file), schema).map((use) => ({ ...use, file })) : [];
    });
}

function listFiles(root: string, dir: string): string[] {
  return readdirSync(path.join(root, dir), { withFileTypes: true }).flatMap((entry) => {
    const name = `${dir}/${entry.name}`;
    if (EXCLUDED_PATHS.test(name)) return [];
    return entry.isDirectory() ? listFiles(root, name) : [name];
  });
}

/**
 * Models of the schemas, and the tables that the configurations of Prisma name beside them: a test of the platform
 * finds any other.
 */
export function readSchema(root: string): Schema {
  const read = createFileReader(root);
  const files = listFiles(root, 'services');
  const models = new Map(
    files.filter((file) => file.endsWith('/schema.prisma')).flatMap((file) => parseModels(read(file))),
  );
  const others = ['prisma-config.ts', ...files.filter((file) => file.endsWith('/prisma.config.ts'))].flatMap((file) =>
    [...read(file).matchAll(/'public\.(\w+)'/g)].map(([, name = '']) => name),
  );
  return { models, tables: new Set([...models.values(), ...others]) };
}

export const parseModels = (schema: string): [model: string, table: string][] =>
  [...schema.matchAll(/^model (\w)(\w*) \{\n([\s\S]*?)^\}/gm)].map(([, first = '', rest = '', body = '']) => [
    first.toLowerCase() + rest,
    /@@map\("(\w+)"\)/.exec(body)?.[1] ?? first + rest,
  ]);

const PRISMA_CLIENT = /^(.*\.)?(prisma|tx|db)$/;

/**
 * Texts that contain SQL, whichever function they are passed to; `deleteOldRows(…, '…')` and lists `TABLES`; models of
 * Prisma's clients, which are `prisma`, `tx` or `db`. Relations in Prisma's `include`, `select` and `where` are not
 * followed.
 */
export function findTableUsesInTypeScript(file: string, text: string, schema: Schema): TableUse[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const uses: TableUse[] = [];
  const addTableUse = (table: string, node: ts.Node, linesAfter = 0) => {
    const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1 + linesAfter;
    if (schema.tables.has(table)) uses.push({ table, file, line });
  };
  const addTableUseOfLiteral = (node: ts.Node | undefined) =>
    node && ts.isStringLiteralLike(node) && addTableUse(node.text, node);
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      for (const { table, line } of findTableUsesInSql(getSqlText(node), schema)) addTableUse(table, node, line - 1);
    }
    if (ts.isCallExpression(node) && node.expression.getText() === 'deleteOldRows')
      addTableUseOfLiteral(node.arguments[1]);
    if (ts.isVariableDeclaration(node) && node.name.getText() === 'TABLES' && node.initializer) {
      if (ts.isArrayLiteralExpression(node.initializer)) node.initializer.elements.forEach(addTableUseOfLiteral);
    }
    if (ts.isPropertyAccessExpression(node) && PRISMA_CLIENT.test(node.expression.getText())) {
      addTableUse(schema.models.get(node.name.text) ?? '', node.name);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return uses;
}

/** As it is written, with every value that is put in replaced by as many lines. */
function getSqlText(node: ts.StringLiteralLike | ts.TemplateExpression): string {
  if (!ts.isTemplateExpression(node)) return node.getText();
  return node.templateSpans.reduce((text, { expression, literal }) => {
    const lines = expression.getText().split('\n').length - 1;
    return `${text} ${'\n'.repeat(lines)} ${literal.getText()}`;
  }, node.head.getText());
}

/** One table or a list; our SQL has its keywords in capitals. */
const TABLE_REFERENCE =
  /\b(?:FROM|JOIN|INTO|UPDATE|USING|TABLE|TRUNCATE)\s+(?:ONLY\s+)?("?\w+"?(?:(?:\s+(?:AS\s+)?\w+)?,\s*"?\w+"?)*)/g;
const CTE_NAME = /\b(\w+)(?:\s*\([^)]*\))?\s+AS\s+(?:MATERIALIZED\s+)?\(/g;

export function findTableUsesInSql(sql: string, { tables }: Schema): Omit<TableUse, 'file'>[] {
  const own = new Set([...sql.matchAll(CTE_NAME)].map(([, name]) => name));
  return [...sql.matchAll(TABLE_REFERENCE)].flatMap(({ index, 1: list = '' }) => {
    const line = sql.slice(0, index).split('\n').length;
    const names = list.split(',').map((item) => item.trim().split(/\s+/)[0]?.replaceAll('"', '') ?? '');
    return names.filter((name) => tables.has(name) && !own.has(name)).map((table) => ({ table, line }));
  });
}
