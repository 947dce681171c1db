import fs from 'node:fs';
import path from 'node:path';
import { createZip } from './zip';

export interface WheelSource {
  name: string;
  version?: string;
  /** Source of the module of that name. */
  source: string;
  /** As `Requires-Dist` names them. */
  requires?: string[];
  /** Further files, by path in the wheel. */
  files?: Record<string, string>;
}

/** Writes a pure Python wheel into the directory. @returns its path */
export async function writeWheel(
  directory: string,
  { name, version = '1.0', source, requires = [], files = {} }: WheelSource,
): Promise<string> {
  const info = `${name}-${version}.dist-info`;
  const file = path.join(directory, `${name}-${version}-py3-none-any.whl`);
  const contents = {
    ...files,
    [`${name}.py`]: source,
    [`${info}/METADATA`]: [
      'Metadata-Version: 2.1',
      `Name: ${name}`,
      `Version: ${version}`,
      ...requires.map((each) => `Requires-Dist: ${each}`),
      '',
    ].join('\n'),
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  };
  const record = `${info}/RECORD`;
  const listed = [...Object.keys(contents), record].map((each) => `${each},,\n`).join('');
  fs.writeFileSync(file, await createZip({ ...contents, [record]: listed }));
  return file;
}
