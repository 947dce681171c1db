import {
  actorOf,
  alreadyDone,
  callerOf,
  creating,
  invalid,
  linkNextOffset,
  madeBy,
  type Operations,
  type Principal,
} from '@gantry/http';
import { createInputValidator, sampleInputs } from '@gantry/program';
import type { Request, Response } from 'express';
import type { Deps } from '../deps';
import { applyChanges, fileToApi } from '../file-trees/file-tree';
import { readTree } from '../file-trees/tree-pack';
import type { WorkerStatus } from '../generated/prisma/client';
import { readBundle, writeBundle } from './bundle';
import { changeStatus, transitions } from './change-status';
import { compareVersions } from './compare-versions';
import { createWorker } from './create-worker';
import { deleteWorker } from './delete-worker';
import { type EditedWorker, editWorker, type WorkerEdit } from './edit-worker';
import { rollBack } from './roll-back';
import {
  findPreviousVersion,
  getCurrentVersion,
  getVersionBySha,
  listVersions,
  type Version,
} from './version-repository';
import { versionToItem, workerToApi, workerToItem } from './worker';
import { factsOf, type WorkerFacts } from './worker-facts';
import { parseNewWorker, parseWorkerChange, refuseManifests } from './worker-input';
import {
  getVisibleWorker,
  listTags,
  listWorkers,
  type WorkerFilter,
  type WorkerWithTriggers,
} from './worker-repository';

export function workerOperations(deps: Deps): Operations {
  const { prisma, objects, baseUrl } = deps;
  const find = (req: Request) => getVisibleWorker(prisma, callerOf(req), idOf(req));

  async function describe(caller: Principal, id: string) {
    const worker = await getVisibleWorker(prisma, caller, id);
    const { definition } = await getCurrentVersion(prisma, worker);
    const facts = (await factsOf(deps, worker.workspaceId, [worker])).get(worker.uid) as WorkerFacts;
    return workerToApi({ worker, facts, caller, baseUrl, definition });
  }

  async function answerEdit(req: Request, res: Response, { shown, warnings }: EditedWorker): Promise<void> {
    const described = await describe(callerOf(req), idOf(req));
    res.json({ ...described, ...shown, warnings: [...warnings, ...missingSecretWarnings(described.missing_secrets)] });
  }

  const edit = async (req: Request, res: Response, wanted: WorkerEdit) =>
    answerEdit(req, res, await editWorker(deps, callerOf(req), actorOf(req), idOf(req), wanted));

  const change = (req: Request, res: Response) =>
    edit(req, res, { change: parseWorkerChange(req.body), changeSource: 'edited' });

  const move = (name: keyof typeof transitions) => async (req: Request, res: Response) => {
    await changeStatus(deps, callerOf(req), actorOf(req), idOf(req), transitions[name]);
    res.json(await describe(callerOf(req), idOf(req)));
  };

  /** The version that the query names, or the current one. */
  const versionOf = (req: Request, worker: WorkerWithTriggers): Promise<Version> =>
    typeof req.query.version === 'string'
      ? getVersionBySha(prisma, worker, req.query.version)
      : getCurrentVersion(prisma, worker);

  return {
    listWorkers: async (req, res) => {
      const caller = callerOf(req);
      const filter = filterOf(req);
      const { workers, total } = await listWorkers(prisma, caller, filter);
      const facts = await factsOf(deps, caller.workspaceId, workers);
      linkNextOffset(req, res, filter, total);
      res.json(
        workers.flatMap((worker) => {
          const known = facts.get(worker.uid);
          return known ? [workerToItem({ worker, facts: known, caller, baseUrl })] : [];
        }),
      );
    },
    createWorker: creating(
      async (req, res) => {
        const caller = callerOf(req);
        const isUpload = req.is('multipart/form-data');
        const { fields, tree } = isUpload ? await uploadOf(req) : bodyOf(req);
        const input = parseNewWorker(fields, tree);
        const source = isUpload ? 'bundle' : 'created';
        const made = await createWorker(deps, caller, actorOf(req), madeBy(req), input, source);
        // The answer of a request that is sent again must not show a secret again, so it is not kept.
        res.locals.holdsSecret = Object.keys(made.shown).length > 0;
        const described = await describe(caller, made.id);
        const warnings = [...made.warnings, ...missingSecretWarnings(described.missing_secrets)];
        res.status(201).json({ ...described, ...made.shown, warnings });
      },
      {
        see: (req, id) => getVisibleWorker(prisma, callerOf(req), id),
        answer: async (req, res, id) => {
          const { triggers } = await getVisibleWorker(prisma, callerOf(req), id);
          if (triggers.some(({ type }) => type === 'webhook')) throw alreadyDone(id);
          const described = await describe(callerOf(req), id);
          res.status(201).json({ ...described, warnings: missingSecretWarnings(described.missing_secrets) });
        },
      },
    ),
    listWorkerTags: async (req, res) => {
      res.json(await listTags(prisma, callerOf(req)));
    },
    getWorker: async (req, res) => {
      res.json(await describe(callerOf(req), idOf(req)));
    },
    updateWorker: change,
    putWorker: async (req, res) => {
      if (!req.is('multipart/form-data')) return change(req, res);
      const { fields, tree } = await uploadOf(req);
      const { id: _, ...given } = fields;
      const replacement = parseNewWorker({ name: 'stays as it is', ...given }, tree);
      return edit(req, res, { change: parseWorkerChange(given), changeSource: 'bundle', replacement });
    },
    deleteWorker: async (req, res) => {
      await deleteWorker(deps, callerOf(req), actorOf(req), idOf(req));
      res.status(204).end();
    },
    pauseWorker: move('pause'),
    resumeWorker: move('resume'),
    archiveWorker: move('archive'),
    restoreWorker: move('restore'),
    setWorkerVisibility: async (req, res) => {
      const { visibility } = req.body;
      await edit(req, res, { change: parseWorkerChange({ visibility }), changeSource: 'edited' });
    },

    listWorkerFiles: async (req, res) => {
      const { code } = await versionOf(req, await find(req));
      res.json((await readTree(objects, code)).map(fileToApi));
    },
    writeWorkerFiles: async (req, res) => {
      await edit(req, res, { change: parseWorkerChange(req.body), changeSource: 'files' });
    },
    listWorkerVersions: async (req, res) => {
      const worker = await find(req);
      const page = pageOf(req);
      const { versions, total } = await listVersions(prisma, worker, page);
      linkNextOffset(req, res, page, total);
      res.json(versions.map((version) => versionToItem(version, worker.currentVersion)));
    },
    getWorkerVersion: async (req, res) => {
      const worker = await find(req);
      const version = await getVersionBySha(prisma, worker, String(req.params.sha));
      const { compare_to: sha } = req.query;
      const base =
        typeof sha === 'string'
          ? await getVersionBySha(prisma, worker, sha)
          : await findPreviousVersion(prisma, worker, version.number);
      res.json({
        ...versionToItem(version, worker.currentVersion),
        definition: version.definition,
        files: version.files,
        compared_to: base?.sha ?? null,
        changes: compareVersions(base, version),
      });
    },
    rollBackWorker: creating(
      async (req, res) => {
        const wanted = { sha: String(req.params.sha), message: messageOf(req) };
        await rollBack(deps, callerOf(req), actorOf(req), madeBy(req), idOf(req), wanted);
        res.json(await describe(callerOf(req), idOf(req)));
      },
      {
        see: find,
        answer: async (req, res) => {
          res.json(await describe(callerOf(req), idOf(req)));
        },
      },
    ),

    getWorkerSchema: async (req, res) => {
      const { definition } = await versionOf(req, await find(req));
      res.json(createInputValidator(definition.inputs).schema);
    },
    getSampleInput: async (req, res) => {
      const { definition } = await versionOf(req, await find(req));
      res.json({ inputs: sampleInputs(definition.inputs) });
    },
    getWorkerBundle: async (req, res) => {
      const worker = await find(req);
      const { definition, code } = await versionOf(req, worker);
      const tree = await readTree(objects, code);
      const zip = await writeBundle({ worker, definition, triggers: worker.triggers, tree });
      res.type('application/zip').attachment(`${worker.id}.zip`).send(zip);
    },
  };
}

const idOf = (req: Request): string => String(req.params.worker_id);

const pageOf = ({ query }: Request) => ({ limit: Number(query.limit), offset: Number(query.offset) });

function filterOf(req: Request): WorkerFilter {
  const { status, tag, trigger_type: triggerType, q } = req.query;
  return {
    ...pageOf(req),
    ...(typeof status === 'string' && { status: status as WorkerStatus | 'all' }),
    ...(typeof tag === 'string' && { tag }),
    ...(typeof triggerType === 'string' && { triggerType: triggerType as NonNullable<WorkerFilter['triggerType']> }),
    ...(typeof q === 'string' && { q }),
  };
}

function bodyOf(req: Request) {
  const { files, ...fields } = req.body;
  refuseManifests(files);
  return { fields, tree: applyChanges([], files) };
}

/** The bundle of a form; what else is in the form counts more than its worker.yaml. */
async function uploadOf(req: Request) {
  const files = (req.files ?? []) as Express.Multer.File[];
  const [bundle, another] = files;
  if (bundle?.fieldname !== 'bundle' || another) {
    throw invalid([{ path: 'bundle', message: 'send one zip, as a file, in the field "bundle"' }], 'bad_bundle');
  }
  const { bundle: _, ...form } = req.body;
  const { fields, tree } = await readBundle(bundle.buffer);
  return { fields: { ...fields, ...form } as Record<string, unknown>, tree };
}

const messageOf = ({ body }: Request): string | null => body?.message?.trim() || null;

const missingSecretWarnings = (names: string[]): string[] =>
  names.map((name) => `the secret ${name} is not set yet: runs fail until it is`);
