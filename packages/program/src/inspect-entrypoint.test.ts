import { formatInspectionWarnings, type ProgramDeclarations } from './inspect-entrypoint';
import { inputItems } from './items';

const EMPTY_INSPECTION = { parameters: [], imports: [], secrets: [] };
const buildDeclarations = (more: Partial<ProgramDeclarations> = {}): ProgramDeclarations => ({
  inputs: [],
  dependencies: [],
  secrets: [],
  ...more,
});

test('a parameter without an input is reported, unless it takes all of them', () => {
  const inputs = inputItems.parse(['a']);
  const listWarnings = (...parameters: string[]) =>
    formatInspectionWarnings({ ...EMPTY_INSPECTION, parameters }, buildDeclarations({ inputs }));
  expect(listWarnings('a', 'b', 'context')).toEqual(['run() has a parameter "b" that is not an input in the manifest']);
  expect(listWarnings('payload', 'ctx')).toEqual([]);
});

test('an import that no declared package provides is reported with the package to declare', () => {
  const listWarnings = (imports: string[], ...dependencies: string[]) =>
    formatInspectionWarnings({ ...EMPTY_INSPECTION, imports }, buildDeclarations({ dependencies }));
  expect(listWarnings(['requests', 'PIL'])).toEqual([
    'the code imports requests: declare requests in python_dependencies',
    'the code imports PIL: declare pillow in python_dependencies',
  ]);
  expect(listWarnings(['PIL', 'yaml', 'ruamel_yaml'], 'Pillow>=10', 'PyYAML', 'ruamel.yaml==0.18')).toEqual([]);
  expect(listWarnings(['google'], 'google-cloud-storage>=2,<3')).toEqual([]);
});

test('a secret that is read but not declared is reported', () => {
  const listWarnings = (...secrets: string[]) =>
    formatInspectionWarnings({ ...EMPTY_INSPECTION, secrets: ['API_KEY'] }, buildDeclarations({ secrets }));
  expect(listWarnings()).toEqual(['the code reads API_KEY, which is not among the declared secrets']);
  expect(listWarnings('API_KEY')).toEqual([]);
});
