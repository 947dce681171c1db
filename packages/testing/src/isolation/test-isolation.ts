/** The matrix of one surface as tests of the file that calls this. */
import { readFileSync } from 'node:fs';
import { readOperations } from '@gantry/http';
import { type ClosingSurface, checkClosedWorkspace, isTestedAfterClosure } from './closed-matrix';
import { listCredentialOperations } from './credential-creation';
import { BLOCKED_MS_MAX, createEventLoopChecker, type EventLoopChecker } from './event-loop-checker';
import { createIsolationMatrix, type IsolationMatrix, listNonIdempotentCreates } from './matrix';
import { checkRestrictedTokens, isTestedWithRestrictedTokens } from './restricted-matrix';

export function testIsolation(openapiFile: string, start: () => Promise<ClosingSurface & { stop(): Promise<void> }>) {
  let surface: Awaited<ReturnType<typeof start>> | undefined;
  let matrix: IsolationMatrix;

  beforeAll(async () => {
    surface = await start();
    matrix = createIsolationMatrix(surface);
  });

  afterAll(async () => {
    if (surface) {
      process.stdout.write(`isolation: ${matrix.operations.length} operations, ${matrix.requests()} requests\n`);
    }
    await surface?.stop();
  });

  const keyMaking = listCredentialOperations(
    JSON.parse(readFileSync(openapiFile, 'utf8')),
    readOperations(openapiFile),
  );

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
    expect(listNonIdempotentCreates(JSON.parse(readFileSync(openapiFile, 'utf8')))).toEqual([]);
  });

  const operations = readOperations(openapiFile).map((operation) => [operation.id, operation] as const);

  test.each(operations)('%s is closed to every credential without access', async (_id, operation) => {
    expect(await matrix.check(operation)).toEqual([]);
  });

  const ofRestricted = operations.filter(([, operation]) => isTestedWithRestrictedTokens(operation));
  test.each(ofRestricted)('%s is closed to tokens that are restricted', async (_id, operation) => {
    expect(await checkRestrictedTokens(surface as ClosingSurface, operation)).toEqual([]);
  });

  /** These have a surface of their own: some of the bodies make things. */
  describe('the costliest bodies', () => {
    let other: Awaited<ReturnType<typeof start>> | undefined;
    let work: EventLoopChecker | undefined;

    beforeAll(async () => {
      other = await start();
      work = createEventLoopChecker(other);
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

    const ofClosed = operations.filter(([, operation]) => isTestedAfterClosure(operation));
    test.each(ofClosed)('%s serves nothing of it and changes nothing', async (_id, operation) => {
      expect(await checkClosedWorkspace(surface as ClosingSurface, operation)).toEqual([]);
    });
  });
}
