import { type Call, created, noContent, type Operations, ok, respondWithCountedPage } from '@gantry/http';
import { getVisibleWorker } from '../workers/worker-repository';
import { exampleToApi } from './example';
import type { ExampleDeps } from './example-deps';
import { getExample, listExamples } from './example-repository';
import { createExample, editExample, removeExample } from './example-service';

type WorkerRequest = Pick<Call<{ worker_id: string }>, 'caller' | 'path'>;

export function createExampleOperations(deps: ExampleDeps): Operations<'worker'> {
  const { prisma, pool } = deps;
  const getRequestedWorker = ({ caller, path }: WorkerRequest) => getVisibleWorker(prisma, caller, path.worker_id);
  const getVisibleExample = async (call: WorkerRequest, id: string) =>
    exampleToApi(await getExample(pool, await getRequestedWorker(call), id));
  return {
    listExamples: async (call) => {
      const { examples, total } = await listExamples(pool, await getRequestedWorker(call), call.query);
      return respondWithCountedPage(call, examples, total, exampleToApi);
    },
    createExample: {
      create: async (call) => created(exampleToApi(await createExample(deps, call, call.path.worker_id, call.body))),
      assertVisible: getVisibleExample,
    },
    getExample: async (call) => ok(await getVisibleExample(call, call.path.example_id)),
    updateExample: async (call) => {
      const { worker_id: workerId, example_id: exampleId } = call.path;
      return ok(exampleToApi(await editExample(deps, call, workerId, exampleId, call.body)));
    },
    deleteExample: async (call) => {
      const { worker_id: workerId, example_id: exampleId } = call.path;
      return removeExample(deps, call, workerId, exampleId).then(noContent);
    },
  };
}
