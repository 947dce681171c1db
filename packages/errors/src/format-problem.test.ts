import { z } from 'zod';
import { formatIssues } from './format-problem';

test('problems of a definition are sentences with their paths', () => {
  const schema = z.strictObject({
    name: z.string().min(1),
    runner: z.enum(['python', 'agent']),
    limits: z.strictObject({ memory_mb: z.int().min(64), budget: z.number().positive() }),
    tags: z.array(z.string().max(3)).min(1),
    inputs: z.record(z.string(), z.unknown()),
    option: z.union([z.string(), z.strictObject({ value: z.string() })]),
    missing: z.boolean(),
  });
  const input = {
    name: '',
    runner: 'perl',
    tags: ['long'],
    inputs: 7,
    option: 7,
    colour: 'red',
    limits: { memory_mb: 1.5, budget: 0, ram: 1 },
  };
  const { error } = schema.safeParse(input);
  const formatPattern = formatIssues(error as z.ZodError, ['manifest']).map(
    ({ path, message }) => `${path} ${message}`,
  );
  expect(formatPattern.sort()).toEqual([
    'manifest.colour unknown property',
    'manifest.inputs must be an object',
    'manifest.limits.budget must be more than 0',
    'manifest.limits.memory_mb must be a whole number',
    'manifest.limits.ram unknown property',
    'manifest.missing is required',
    'manifest.name must not be empty',
    'manifest.option does not match any of the allowed forms',
    'manifest.runner must be one of: python, agent',
    'manifest.tags.0 may have at most 3 characters',
  ]);
});
