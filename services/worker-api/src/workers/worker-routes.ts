import { invalid } from '@gantry/errors';
import {
  buildPageHeaders,
  type Call,
  createApiClient,
  created,
  type HandlerResponse,
  noContent,
  type OperationCall,
  type Operations,
  ok,
  respondWithCountedPage,
  respondWithPage,
  toApiFields,
} from '@gantry/http';
import { alreadyDoneError, type Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { buildSampleInputs, createInputValidator } from '@gantry/program';
import { listDependencyLocks, loadInstallation } from '@gantry/run-engine';
import { applyFileEdits, fileToApi } from '../file-trees/file-tree';
import { readTree } from '../file-trees/tree-pack';
import { readBundle, writeBundle } from './bundle';
import { changeWorkerStatus, transitions } from './change-status';
import { compareVersions } from './compare-versions';
import { createWorker } from './create-worker';
import { deleteWorker } from './delete-worker';
import { editWorker, type WorkerEdit } from './edit-worker';
import { inspectDraft } from './inspect-draft';
import { findSkillUpdate } from './known-skills';
import type { Manifests } from './manifests';
import { resolveSkills } from './pinned-skill';
import { rollBackWorker } from './roll-back';
import {
  approveCode,
  describePendingApproval,
  getPersonId,
  listApprovals,
  listGrantedAccess,
} from './version-approval';
import {
  findPreviousVersion,
  getCurrentVersion,
  getRequestedVersion,
  getVersionBySha,
  listVersions,
} from './version-repository';
import { versionToItem, workerToApi, workerToItem } from './worker';
import type { WorkerDeps } from './worker-deps';
import { parseNewWorker, parseWorkerChange, rejectManifests } from './worker-input';
import { getVisibleWorker, listTags, listWorkers } from './worker-repository';
import { loadRecentRunsByWorker, loadWorkerStats, type WorkerStats } from './worker-stats';

type WorkerPath = { worker_id: string };
type WorkerRequest = Pick<Call<WorkerPath>, 'caller' | 'path'>;
type NewWorker = Exclude<OperationCall<'worker', 'createWorker'>['body'], { bundle: string }>;
type WorkerBundle = Extract<OperationCall<'worker', 'createWorker'>['body'], { bundle: string }>;

export function createWorkerOperations(deps: WorkerDeps): Operations<'worker'> {
  const { prisma, objects, manifests, baseUrl } = deps;
  const getRequestedWorker = ({ caller, path }: WorkerRequest) => getVisibleWorker(prisma, caller, path.worker_id);

  async function loadWorkerDetails(caller: Principal, id: string) {
    const worker = await getVisibleWorker(prisma, caller, id);
    const { definition } = await getCurrentVersion(prisma, worker);
    const stats = (await loadWorkerStats(deps, worker.workspaceId, [worker])).get(worker.uid) as WorkerStats;
    const skillUpdate = await findSkillUpdate(deps.pool, caller, definition);
    return workerToApi({ worker, stats, caller, baseUrl, definition, skillUpdate });
  }

  async function editWithResponse(call: Call<WorkerPath>, workerEdit: WorkerEdit): Promise<HandlerResponse> {
    const { shown, warnings } = await editWorker(deps, call, call.path.worker_id, workerEdit);
    const described = await loadWorkerDetails(call.caller, call.path.worker_id);
    return ok({ ...described, ...shown, warnings: [...warnings, ...(await listWarnings(call.caller, described))] });
  }

  type WorkerDetails = Awaited<ReturnType<typeof loadWorkerDetails>>;

  const listPendingAccess = async (caller: Principal, { id, version_approval: approval }: WorkerDetails) => {
    if (approval?.status !== 'waiting') return [];
    const worker = await getVisibleWorker(prisma, caller, id);
    const { definition } = await getCurrentVersion(prisma, worker);
    return listGrantedAccess(deps.pool, worker.uid, definition);
  };

  const listWarnings = async (caller: Principal, worker: WorkerDetails): Promise<string[]> => {
    const reach = await listPendingAccess(caller, worker);
    return [
      ...worker.missing_secrets.map((name) => `the secret ${name} is not set yet; runs fail until it is`),
      ...(worker.model_problem === null ? [] : [`model: ${worker.model_problem}`]),
      ...worker.missing_workers.map(
        (id) => `tools: there is no worker ${id} that runs can call; runs fail until there is one`,
      ),
      ...(reach.length ? [describePendingApproval(deps.dashboardUrl, worker.id, worker.sha, reach)] : []),
    ];
  };

  const applyChange = (call: Call<WorkerPath, unknown, object>, changeSource: 'edited' | 'files' = 'edited') =>
    editWithResponse(call, { change: parseWorkerChange({ ...call.body }), changeSource });

  const buildStatusHandler = (name: keyof typeof transitions) => async (call: Call<WorkerPath>) => {
    await changeWorkerStatus(deps, call, call.path.worker_id, transitions[name]);
    return ok(await loadWorkerDetails(call.caller, call.path.worker_id));
  };

  return {
    listWorkers: async ({ caller, req, query }) => {
      const { workers, total } = await listWorkers(prisma, caller, query);
      const [facts, runs] = await Promise.all([
        loadWorkerStats(deps, caller.workspaceId, workers),
        loadRecentRunsByWorker(deps, workers, query.recent_runs),
      ]);
      const items = workers.flatMap((worker) => {
        const known = facts.get(worker.uid);
        return known ? [{ ...workerToItem({ worker, stats: known, caller, baseUrl }), ...runs(worker) }] : [];
      });
      return ok(items, buildPageHeaders(req, query, total));
    },
    createWorker: {
      create: async (call) => {
        const { body, files, res } = call;
        const isUpload = 'bundle' in body;
        const input = isUpload
          ? parseUploadedWorker(await parseUpload(manifests, body, files))
          : toNewWorker(await resolveSkills(createApiClient(deps.surfaceUrls, call), body, true));
        const source = isUpload ? 'bundle' : 'created';
        const worker = await createWorker(deps, call, input, source);
        // The answer of a request that is sent again must not show a secret again, so it is not kept.
        res.locals.holdsSecret = Object.keys(worker.shown).length > 0;
        const described = await loadWorkerDetails(call.caller, worker.id);
        const warnings = [...worker.warnings, ...(await listWarnings(call.caller, described))];
        return created({ ...described, ...worker.shown, warnings });
      },
      assertVisible: ({ caller }, id) => getVisibleWorker(prisma, caller, id),
      answer: async ({ caller }, id) => {
        const { triggers } = await getVisibleWorker(prisma, caller, id);
        if (triggers.some(({ type }) => type === 'webhook')) throw alreadyDoneError(id);
        const described = await loadWorkerDetails(caller, id);
        return created({ ...described, warnings: await listWarnings(caller, described) });
      },
    },
    inspectDraft: async ({ caller, body }) => ok(await inspectDraft(deps, caller, body)),
    listWorkerTags: async ({ caller, req, query }) => {
      const { tags, total } = await listTags(prisma, caller, query);
      return ok(tags, buildPageHeaders(req, query, total));
    },
    getWorker: async ({ caller, path }) => ok(await loadWorkerDetails(caller, path.worker_id)),
    updateWorker: async (call) =>
      applyChange({
        ...call,
        body: await resolveSkills(createApiClient(deps.surfaceUrls, call), call.body, false),
      }),
    putWorker: async (call) => {
      const { body, files } = call;
      if (!('bundle' in body)) return applyChange({ ...call, body });
      const { fields, tree } = await parseUpload(manifests, body, files);
      const { id: _, ...workerFields } = fields;
      const replacement = parseNewWorker({ name: 'stays as it is', ...workerFields }, () => tree);
      return editWithResponse(call, { change: parseWorkerChange(workerFields), changeSource: 'bundle', replacement });
    },
    deleteWorker: async (call) => deleteWorker(deps, call, call.path.worker_id).then(noContent),
    pauseWorker: buildStatusHandler('pause'),
    resumeWorker: buildStatusHandler('resume'),
    archiveWorker: buildStatusHandler('archive'),
    restoreWorker: buildStatusHandler('restore'),
    setWorkerVisibility: (call) => applyChange(call),

    listWorkerFiles: async (call) => {
      const { code } = await getRequestedVersion(prisma, await getRequestedWorker(call), call.query.version);
      return respondWithPage(call, await readTree(objects, code), fileToApi);
    },
    writeWorkerFiles: (call) => applyChange(call, 'files'),
    listWorkerVersions: async (call) => {
      const worker = await getRequestedWorker(call);
      const { versions, total } = await listVersions(prisma, worker, call.query);
      const shas = versions.map(({ sha }) => sha);
      const approvals = await listApprovals(prisma, worker.uid, shas);
      const { currentVersion } = worker;
      return respondWithCountedPage(call, versions, total, (one) =>
        versionToItem(one, { currentVersion, approval: approvals.get(one.sha) }),
      );
    },
    getWorkerVersion: async (call) => {
      const worker = await getRequestedWorker(call);
      const version = await getVersionBySha(prisma, worker, call.path.sha);
      const { compare_to: sha } = call.query;
      const base =
        sha === undefined
          ? await findPreviousVersion(prisma, worker, version.number)
          : await getVersionBySha(prisma, worker, sha);
      const approvals = await listApprovals(prisma, worker.uid, [version.sha]);
      const code = { id: worker.uid, version: version.sha };
      const locks = await listDependencyLocks(deps.pool, worker.workspaceId, code);
      const dependencies = version.definition.python_dependencies;
      const installation = await loadInstallation(deps.pool, worker.workspaceId, { dependencies, code, locks });
      const shown = { currentVersion: worker.currentVersion, approval: approvals.get(version.sha) };
      return ok({
        ...versionToItem(version, shown),
        definition: version.definition,
        locked_dependencies: locks.map((lock) => toApiFields(lock, 'platform', 'packages', 'lockedAt')),
        dependencies: toApiFields(
          installation,
          'status',
          'progress',
          'platform',
          'packages',
          'startedAt',
          'finishedAt',
          'error',
        ),
        files: version.files,
        compared_to: base?.sha ?? null,
        changes: compareVersions(base, version),
      });
    },
    approveVersion: async (call) => {
      const { caller, actor, path } = call;
      const id = getPersonId(caller);
      const worker = await getRequestedWorker(call);
      const { sha } = await getVersionBySha(prisma, worker, path.sha);
      const approver = { id, label: actor.label, actor, now: deps.now() };
      await transaction(prisma, (tx) => approveCode(tx, worker, sha, approver));
      await deps.prepareVersion(worker).catch((err) => deps.log.warn({ err }, 'approved version not announced'));
      return ok(await loadWorkerDetails(caller, worker.id));
    },
    rollBackWorker: {
      create: async (call) => {
        const { worker_id, sha } = call.path;
        await rollBackWorker(deps, call, worker_id, { sha, message: call.body?.message?.trim() || null });
        return ok(await loadWorkerDetails(call.caller, worker_id));
      },
      assertVisible: getRequestedWorker,
      answer: async ({ caller, path }) => ok(await loadWorkerDetails(caller, path.worker_id)),
    },

    getWorkerSchema: async (call) => {
      const { definition } = await getRequestedVersion(prisma, await getRequestedWorker(call), call.query.version);
      return ok(createInputValidator(definition.inputs).schema);
    },
    getSampleInput: async (call) => {
      const { definition } = await getRequestedVersion(prisma, await getRequestedWorker(call), call.query.version);
      return ok({ inputs: buildSampleInputs(definition.inputs) });
    },
    getWorkerBundle: async (call) => {
      const worker = await getRequestedWorker(call);
      const { definition, code } = await getRequestedVersion(prisma, worker, call.query.version);
      const tree = await readTree(objects, code);
      const zip = await writeBundle(manifests, { worker, definition, triggers: worker.triggers, tree });
      call.res.type('application/zip').attachment(`${worker.id}.zip`).send(zip);
    },
  };
}

/** @throws AppError 400 */
export function toNewWorker({ files, ...fields }: Partial<NewWorker>) {
  return parseNewWorker(fields, () => {
    if (!files) throw invalid([{ path: 'files', message: 'is required' }]);
    rejectManifests(files);
    return applyFileEdits([], files);
  });
}

const parseUploadedWorker = ({ fields, tree }: Awaited<ReturnType<typeof parseUpload>>) =>
  parseNewWorker(fields, () => tree);

/** The bundle of a form; what else is in the form counts more than its worker.yaml. */
async function parseUpload(manifests: Manifests, { bundle: _, ...form }: WorkerBundle, files: Express.Multer.File[]) {
  const [bundle, another] = files;
  if (bundle?.fieldname !== 'bundle' || another) {
    throw invalid([{ path: 'bundle', message: 'send one zip file in the field "bundle"' }], 'bad_bundle');
  }
  const { fields, tree } = await readBundle(manifests, bundle.buffer);
  return { fields: { ...fields, ...form } as Record<string, unknown>, tree };
}
