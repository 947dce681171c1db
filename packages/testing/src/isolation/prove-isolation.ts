/** The matrix of one surface as tests of the file that calls this. */
import { readFileSync } from 'node:fs';
import { readOperations } from '@gantry/http';
import { BLOCKED_MS_MAX, type BoundedWork, createWorkBoundChecker } from './bounded-work';
import { type ClosingSurface, checkClosed, isAskedOfClosed } from './closed-matrix';
import { operationsThatMakeKeys } from './key-making';
import { creatingWithoutKey, isolationMatrix, type Matrix } from './matrix';
import { checkRestricted, isAskedOfRestricted } from './restricted-matrix';

export function proveIsolation(openapiFile: string, start: () => Promise<ClosingSurface & { stop(): Promise<void> }>) {
  let surface: Awaited<ReturnType<typeof start>> | undefined;
  let matrix: Matrix;

  beforeAll(async () => {
    surface = await start();
    matrix = isolationMatrix(surface);
  });

  afterAll(async () => {
    if (surface) {
      process.stdout.write(`isolation: ${matrix.operations.length} operations, ${matrix.requests()} requests\n`);
    }
    await surface?.stop();
  });

  const keyMaking = operationsThatMakeKeys(JSON.parse(readFileSync(openapiFile, 'utf8')), readOperations(openapiFile));

  test('every operation that responds with a credential has its rule', () => {
    expect(keyMaking.filter((id) => !surface?.fixtures[id]?.key)).toEqual([]);
  });

  test('no credential can create one with more rights than its own', async () => {
    const found: string[] = [];
    for (const operation of matrix.operations.filter(({ id }) => surface?.fixtures[id]?.key)) {
      found.push(...(await matrix.checkKeyMaking(operation)).map((problem) => `${operation.id}, ${problem}`));
    }
    expect(found).toEqual([]);
  });

  test('every operation has its place in the matrix', () => {
    expect(matrix.unmatched).toEqual([]);
  });

  test('every POST that creates something honours Idempotency-Key', () => {
    expect(creatingWithoutKey(JSON.parse(readFileSync(openapiFile, 'utf8')))).toEqual([]);
  });

  const operations = readOperations(openapiFile).map((operation) => [operation.id, operation] as const);

  test.each(operations)('%s is closed to every credential without access', async (_id, operation) => {
    expect(await matrix.check(operation)).toEqual([]);
  });

  const ofRestricted = operations.filter(([, operation]) => isAskedOfRestricted(operation));
  test.each(ofRestricted)('%s is closed to tokens that are restricted', async (_id, operation) => {
    expect(await checkRestricted(surface as ClosingSurface, operation)).toEqual([]);
  });

  /** These have a surface of their own: some of the bodies make things. */
  describe('the costliest bodies', () => {
    let other: Awaited<ReturnType<typeof start>> | undefined;
    let work: BoundedWork | undefined;

    beforeAll(async () => {
      other = await start();
      work = createWorkBoundChecker(other);
    });

    afterAll(async () => {
      process.stdout.write(`worst bodies: ${work?.requests()} requests\n`);
      await work?.stop();
      await other?.stop();
    });

    test.each(readOperations(openapiFile).flatMap(({ id, body }) => (body?.content['application/json'] ? [id] : [])))(
      `none of %s blocks other requests for longer than ${BLOCKED_MS_MAX} ms`,
      async (id) => {
        expect(await work?.check(id)).toEqual([]);
      },
    );
  });

  describe('after the workspace is deleted', () => {
    beforeAll(() => surface?.closeHome());

    const ofClosed = operations.filter(([, operation]) => isAskedOfClosed(operation));
    test.each(ofClosed)('%s serves nothing of it and changes nothing', async (_id, operation) => {
      expect(await checkClosed(surface as ClosingSurface, operation)).toEqual([]);
    });
  });
}
