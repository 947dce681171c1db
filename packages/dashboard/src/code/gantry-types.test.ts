import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CONTEXT_MEMBERS, GANTRY_NAMES } from './gantry-types';

const stub = readFileSync(path.join(__dirname, '../../../../services/executor/python/gantry/__init__.pyi'), 'utf8');
const body = stub.slice(stub.indexOf('class Context:'), stub.indexOf('\ncontext: Context'));
const flat = (text: string) => text.replace(/\s+/g, ' ').replace(/\( /g, '(').replace(/,? \)/g, ')');

test('completion knows the members of Context, as the stub types them', () => {
  const written = flat(body);
  for (const { name, type } of CONTEXT_MEMBERS) {
    const line = type.startsWith('(') ? `def ${name}(self, ${type.slice(1)}:` : `${name}: ${type}`;
    expect([name, written.includes(line)]).toEqual([name, true]);
  }
  const names = [...body.matchAll(/^ {4}(?:def )?(\w+)[:(]/gm)].map(([, name]) => name);
  expect([...new Set(names)].sort()).toEqual(CONTEXT_MEMBERS.map(({ name }) => name).sort());
});

test('completion knows what can be imported', () => {
  const names = [...stub.matchAll(/^(?:class )?(\w+)(?::|\()/gm)].map(([, name]) => name);
  expect(names.sort()).toEqual(GANTRY_NAMES.map(({ name }) => name).sort());
});
