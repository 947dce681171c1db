import { type Declared, warningsFor } from './inspect-entrypoint';
import { inputItems } from './items';

const nothing = { parameters: [], imports: [], secrets: [] };
const declared = (more: Partial<Declared> = {}): Declared => ({ inputs: [], dependencies: [], secrets: [], ...more });

test('a parameter without an input is reported, unless it takes all of them', () => {
  const inputs = inputItems.parse(['a']);
  const of = (...parameters: string[]) => warningsFor({ ...nothing, parameters }, declared({ inputs }));
  expect(of('a', 'b', 'context')).toEqual(['run() has a parameter "b" that is not an input of the manifest']);
  expect(of('payload', 'ctx')).toEqual([]);
});

test('an import that no declared package provides is reported with the package to declare', () => {
  const of = (imports: string[], ...dependencies: string[]) =>
    warningsFor({ ...nothing, imports }, declared({ dependencies }));
  expect(of(['requests', 'PIL'])).toEqual([
    'the code imports requests: declare requests in python_dependencies',
    'the code imports PIL: declare pillow in python_dependencies',
  ]);
  expect(of(['PIL', 'yaml', 'ruamel_yaml'], 'Pillow>=10', 'PyYAML', 'ruamel.yaml==0.18')).toEqual([]);
  expect(of(['google'], 'google-cloud-storage>=2,<3')).toEqual([]);
});

test('a secret that is read but not declared is reported', () => {
  const of = (...secrets: string[]) => warningsFor({ ...nothing, secrets: ['API_KEY'] }, declared({ secrets }));
  expect(of()).toEqual(['the code reads API_KEY, which is not among the declared secrets']);
  expect(of('API_KEY')).toEqual([]);
});
