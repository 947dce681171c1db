import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { type GantryCommand, withSession } from '../command';
import type { GlobalOptions, Session } from '../session';
import { bold, joinLines, text } from '../text';

export function registerWheel(program: GantryCommand): void {
  program
    .command('wheel')
    .description('Build the Python package gantry: types, test support and a client')
    .argument('[folder]', 'Output folder', '.')
    .addHelpText('after', '\nTo install it: pip install ./gantry_worker-*.whl\nWorkers run without this package.')
    .action(withSession<[string], GlobalOptions>(writeWheel));
}

const NAME = 'gantry_worker';

/** A wheel is a zip with its own table of contents: https://packaging.python.org/specifications/binary-distribution-format */
async function writeWheel({ output }: Session, dir: string): Promise<void> {
  const { writeZip } = await import('@gantry/archive');
  const version = process.env.GANTRY_CLI_VERSION ?? '0';
  const info = `${NAME}-${version}.dist-info`;
  const sources = JSON.parse(process.env.GANTRY_PYTHON_PACKAGE ?? '{}') as Record<string, string>;
  const files = Object.entries({
    ...sources,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${NAME.replace('_', '-')}\nVersion: ${version}\nSummary: Types, a test context and a server client for Gantry workers\nRequires-Python: >=3.10\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: gantry\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  }).map(([name, content]) => ({ path: name, content: Buffer.from(content) }));
  const record = files.map(({ path: name, content }) => {
    const digest = createHash('sha256').update(content).digest('base64url');
    return `${name},sha256=${digest},${content.length}\n`;
  });
  const table = { path: `${info}/RECORD`, content: Buffer.from(`${record.join('')}${info}/RECORD,,\n`) };
  const file = path.resolve(dir, `${NAME}-${version}-py3-none-any.whl`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, await writeZip([...files, table]));
  output.print({ file, version }, () =>
    joinLines([text`Wrote ${bold(file)}`, text`To install it with your tests: pip install ${file}`]),
  );
}
