import { listExamples } from '../examples/example-repository';
import { EXAMPLES_MAX } from '../examples/example-service';
import type { WorkerKey } from '../workers/version-repository';
import { listNewestVersions } from '../workers/version-repository';
import { statusToApi } from './evaluation';
import type { EvaluationDeps } from './evaluation-deps';
import { listLatestByVersion } from './evaluation-repository';
import { type Cell, listCells } from './result-repository';

/** The latest evaluation of each of the newest versions, example by example. @param limit versions */
export async function loadEvaluationTable(
  { prisma, pool }: Pick<EvaluationDeps, 'prisma' | 'pool'>,
  worker: WorkerKey,
  limit: number,
) {
  const versions = await listNewestVersions(prisma, worker, limit);
  const evaluations = await listLatestByVersion(
    pool,
    worker,
    versions.map(({ sha }) => sha),
  );
  const cells = await listCells(
    pool,
    evaluations.map(({ id }) => id),
  );
  const { examples } = await listExamples(pool, worker, { limit: EXAMPLES_MAX, offset: 0 });
  const evaluationsBySha = new Map(evaluations.map((one) => [one.sha, one]));
  return {
    examples: listExampleNames(examples, cells),
    versions: versions.map(({ sha, number, createdAt }) => {
      const evaluation = evaluationsBySha.get(sha);
      return {
        sha,
        version: number,
        created_at: createdAt.toISOString(),
        evaluation_id: evaluation?.id ?? null,
        status: evaluation?.status ?? null,
        totals: evaluation?.totals ?? null,
      };
    }),
    cells: groupCells(cells),
  };
}

/** By name. */
function listExampleNames(examples: { id: string; name: string }[], cells: Cell[]) {
  const names = new Map(cells.map(({ exampleId, name }) => [exampleId, { id: exampleId, name, exists: false }]));
  for (const { id, name } of examples) names.set(id, { id, name, exists: true });
  const toExampleKey = ({ name, id }: { name: string; id: string }) => `${name}\0${id}`;
  return [...names.values()].sort((one, other) => (toExampleKey(one) < toExampleKey(other) ? -1 : 1));
}

type ResultCell = { status: ReturnType<typeof statusToApi>; run_id: string | null };

/** By example, then by version. */
function groupCells(cells: Cell[]): Record<string, Record<string, ResultCell>> {
  const byExample = new Map<string, Map<string, ResultCell>>();
  for (const { sha, exampleId, status, runId } of cells) {
    const bySha = byExample.get(exampleId) ?? new Map<string, ResultCell>();
    byExample.set(exampleId, bySha.set(sha, { status: statusToApi(status), run_id: runId }));
  }
  return Object.fromEntries([...byExample].map(([id, bySha]) => [id, Object.fromEntries(bySha)]));
}
