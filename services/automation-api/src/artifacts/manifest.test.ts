import type { AppError } from '@gantry/errors';
import { parseManifest } from './manifest';

const listProblems = (manifest: unknown) => {
  try {
    parseManifest(manifest);
    return [];
  } catch (err) {
    return (err as AppError).fields?.map(({ path }) => path);
  }
};

test('a name is enough; the rest has defaults', () => {
  expect(parseManifest({ name: 'x' })).toEqual({
    name: 'x',
    description: '',
    inputs: [],
    outputs: [],
    secrets_needed: [],
    python_dependencies: [],
    timeout_seconds: 300,
    isolation: 'warm',
  });
});

test('a bare string is a required text input, or a text output', () => {
  const { inputs, outputs } = parseManifest({ name: 'x', inputs: ['who'], outputs: ['greeting'] });
  expect(inputs).toEqual([{ name: 'who', type: 'text', required: true }]);
  expect(outputs).toEqual([{ name: 'greeting', type: 'text' }]);
});

test('the names of types in Python and JSON Schema are accepted, too', () => {
  const types = ['string', 'int', 'float', 'bool', 'object', 'list'];
  const { inputs } = parseManifest({ name: 'x', inputs: types.map((type, i) => ({ name: `i${i}`, type })) });
  expect(inputs.map(({ type }) => type)).toEqual(['text', 'integer', 'number', 'boolean', 'json', 'json']);
});

test('unknown properties of other programs are ignored', () => {
  const extra = { version: '2', author: { name: 'me' }, icon: 'x.png' };
  expect(parseManifest({ name: 'x', ...extra, inputs: [{ name: 'a', hint: 'h' }] })).toMatchObject({
    ...extra,
    inputs: [{ name: 'a', hint: 'h' }],
  });
});

test.each(['requests', 'requests>=2.31,<3', 'uvicorn[standard]==0.30.*', 'Django ~= 5.0', 'zope.interface'])(
  'the dependency %j is accepted',
  (dependency) => {
    expect(parseManifest({ name: 'x', python_dependencies: [dependency] }).python_dependencies).toEqual([dependency]);
  },
);

test.each([
  [{}, 'manifest.name'],
  [{ name: '' }, 'manifest.name'],
  [{ name: 7 }, 'manifest.name'],
  [{ name: 'x', inputs: {} }, 'manifest.inputs'],
  [{ name: 'x', inputs: [7] }, 'manifest.inputs.0'],
  [{ name: 'x', inputs: [{}] }, 'manifest.inputs.0.name'],
  [{ name: 'x', inputs: ['ok', 'not ok'] }, 'manifest.inputs.1.name'],
  [{ name: 'x', inputs: ['constructor'] }, 'manifest.inputs.0.name'],
  [{ name: 'x', inputs: ['a', 'a'] }, 'manifest.inputs.1'],
  [{ name: 'x', inputs: [{ name: 'a', type: 'colour' }] }, 'manifest.inputs.0.type'],
  [{ name: 'x', inputs: [{ name: 'a', type: 'select' }] }, 'manifest.inputs.0.options'],
  [{ name: 'x', inputs: [{ name: 'a', pattern: '(' }] }, 'manifest.inputs.0.pattern'],
  [{ name: 'x', inputs: [{ name: 'a', type: 'number', minimum: 2, maximum: 1 }] }, 'manifest.inputs.0.minimum'],
  [{ name: 'x', inputs: [{ name: 'a', type: 'file', default: 'x' }] }, 'manifest.inputs.0.default'],
  [{ name: 'x', outputs: [{ name: 'a', type: 'hologram' }] }, 'manifest.outputs.0.type'],
  [{ name: 'x', outputs: ['a', { name: 'a' }] }, 'manifest.outputs.1'],
  [{ name: 'x', secrets_needed: ['api_key'] }, 'manifest.secrets_needed.0'],
  [{ name: 'x', secrets_needed: 'API_KEY' }, 'manifest.secrets_needed'],
  [{ name: 'x', python_dependencies: ['requests @ https://evil.test/x.whl'] }, 'manifest.python_dependencies.0'],
  [{ name: 'x', python_dependencies: ['--index-url=https://evil.test'] }, 'manifest.python_dependencies.0'],
  [{ name: 'x', python_dependencies: ['-r requirements.txt'] }, 'manifest.python_dependencies.0'],
  [{ name: 'x', python_dependencies: ['../wheel'] }, 'manifest.python_dependencies.0'],
  [{ name: 'x', python_dependencies: ['requests; os_name == "nt"'] }, 'manifest.python_dependencies.0'],
  [{ name: 'x', timeout_seconds: 3_601 }, 'manifest.timeout_seconds'],
  [{ name: 'x', timeout_seconds: 0 }, 'manifest.timeout_seconds'],
  [{ name: 'x', isolation: 'none' }, 'manifest.isolation'],
  [{ name: 'x', note: 'a\0b' }, 'manifest'],
  [{ name: 'x', note: 'a'.repeat(300_000) }, 'manifest'],
  [[], 'manifest'],
])('%j is invalid, and the response names the field', (manifest, path) => {
  expect(listProblems(manifest)).toContain(path);
});
