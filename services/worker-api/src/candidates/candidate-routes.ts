import { notFound } from '@gantry/errors';
import {
  type Call,
  created,
  type OperationCall,
  type Operations,
  ok,
  respondWithCountedPage,
  respondWithPage,
} from '@gantry/http';
import { ObjectMissingError } from '@gantry/object-store';
import { transaction } from '@gantry/postgres';
import { buildDecider } from '../approvals/decide-approval';
import { fileToApi } from '../file-trees/file-tree';
import { readTree } from '../file-trees/tree-pack';
import { approveCode, getPersonId, listApprovals } from '../workers/version-approval';
import { getVersionBySha } from '../workers/version-repository';
import { pickDefinitionFields, rejectManifests } from '../workers/worker-input';
import { getVisibleWorker } from '../workers/worker-repository';
import { candidateToApi, candidateToItem } from './candidate';
import type { CandidateDeps } from './candidate-deps';
import { getCandidate, listCandidates, listCases } from './candidate-repository';
import { createCandidate, type NewCandidateInput } from './candidate-service';
import { dropCandidate, promoteCandidate, requireUndecidedCandidate } from './decide-candidate';
import { advanceCandidate } from './rehearse-cases';

type WorkerRequest = Pick<Call<{ worker_id: string }>, 'caller' | 'path'>;
type CandidateRequest = Pick<OperationCall<'worker', 'getCandidate'>, 'caller' | 'path'>;

export function createCandidateOperations(deps: CandidateDeps): Operations<'worker'> {
  const { prisma, pool, objects } = deps;

  const getWorker = ({ caller, path }: WorkerRequest) => getVisibleWorker(prisma, caller, path.worker_id);

  const getWorkerAndCandidate = async (call: CandidateRequest) => {
    const worker = await getWorker(call);
    return { worker, candidate: await getCandidate(pool, worker, call.path.candidate_id) };
  };

  async function loadDetails(call: WorkerRequest, id: string) {
    const { caller } = call;
    const worker = await getWorker(call);
    const candidate = await getCandidate(pool, worker, id);
    const [cases, base, approvals] = await Promise.all([
      listCases(pool, id),
      getVersionBySha(prisma, worker, candidate.baseSha),
      listApprovals(prisma, worker.uid, [candidate.sha]),
    ]);
    const approval = approvals.get(candidate.sha);
    return candidateToApi({ candidate, approval, cases, base, workerId: worker.id, caller });
  }

  return {
    listCandidates: async (call) => {
      const { caller, query } = call;
      const worker = await getWorker(call);
      const { candidates, total } = await listCandidates(pool, worker, query);
      const shas = candidates.map(({ candidate }) => candidate.sha);
      const approvals = await listApprovals(prisma, worker.uid, shas);
      return respondWithCountedPage(call, candidates, total, (listed) =>
        candidateToItem({ ...listed, approval: approvals.get(listed.candidate.sha), workerId: worker.id, caller }),
      );
    },
    createCandidate: {
      create: async (call) => {
        const id = await createCandidate(deps, call, await getWorker(call), parseCandidateInput(call.body));
        return created(await loadDetails(call, id));
      },
      assertVisible: async (call, id) => {
        await getCandidate(pool, await getWorker(call), id);
      },
      answer: async (call, id) => created(await loadDetails(call, id)),
    },
    getCandidate: async (call) => ok(await loadDetails(call, call.path.candidate_id)),
    listCandidateFiles: async (call) => {
      const { candidate } = await getWorkerAndCandidate(call);
      const tree = await readTree(objects, candidate.code).catch((err) => {
        throw err instanceof ObjectMissingError
          ? notFound('candidate', candidate.id, 'with stored files: it was dropped and its files were deleted')
          : err;
      });
      return respondWithPage(call, tree, fileToApi);
    },
    promoteCandidate: async (call) => {
      const { candidate } = await getWorkerAndCandidate(call);
      await promoteCandidate(deps, candidate, buildDecider(call), call.body?.force ?? false);
      return ok(await loadDetails(call, candidate.id));
    },
    approveCandidate: async (call) => {
      const { caller, actor } = call;
      const id = getPersonId(caller);
      const { worker, candidate } = await getWorkerAndCandidate(call);
      requireUndecidedCandidate(candidate);
      const approver = { id, label: actor.label, actor, now: deps.now() };
      await transaction(prisma, (tx) => approveCode(tx, worker, candidate.sha, approver));
      await advanceCandidate(deps, candidate.id);
      return ok(await loadDetails(call, candidate.id));
    },
    dropCandidate: async (call) => {
      const { worker, candidate } = await getWorkerAndCandidate(call);
      await dropCandidate(deps, candidate, worker.id, buildDecider(call));
      return ok(await loadDetails(call, candidate.id));
    },
  };
}

function parseCandidateInput(body: OperationCall<'worker', 'createCandidate'>['body']): NewCandidateInput {
  const { files = [], base_sha: baseSha, message, last_successful: lastSuccessful = 5, run_ids: runIds = [] } = body;
  rejectManifests(files);
  return {
    definition: pickDefinitionFields({ ...body }),
    files,
    baseSha,
    lastSuccessful,
    runIds,
    message: message?.trim() || null,
  };
}
