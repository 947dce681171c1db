import { posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { actorOf, callerOf, creating, madeBy, notFound, type Operations, type Principal } from '@gantry/http';
import type { Request, Response } from 'express';
import { workersThatDeclare } from '../declarations/workers-that-declare';
import type { Deps } from '../deps';
import { applyChanges, fileToApi, withFiles } from '../file-trees/file-tree';
import { readTree } from '../file-trees/tree-pack';
import type { Context } from '../generated/prisma/client';
import { contextToApi, versionToItem } from './context';
import {
  getCurrentVersion,
  getVersionBySha,
  getVisibleContext,
  listContexts,
  listVersions,
  type Version,
} from './context-repository';
import {
  changeFiles,
  createContext,
  deleteContext,
  type FilesChange,
  rollBackContext,
  updateContext,
} from './context-service';
import { findingWarning } from './credential-findings';
import { readFileBody, readUpload } from './uploaded-files';

export function contextOperations(deps: Deps): Operations {
  const { prisma, pool, objects } = deps;

  const find = (req: Request) => getVisibleContext(prisma, callerOf(req), nameOf(req));

  async function describe(caller: Principal, name: string) {
    const context = await getVisibleContext(prisma, caller, name);
    const version = await getCurrentVersion(prisma, context);
    const usedBy = (await workersThatDeclare(pool, caller.workspaceId, 'contexts')).get(name);
    return contextToApi({ context, version, caller, usedBy });
  }

  async function change(req: Request, res: Response, wanted: FilesChange): Promise<void> {
    const caller = callerOf(req);
    const findings = await changeFiles(deps, caller, actorOf(req), nameOf(req), wanted);
    res.json({ ...(await describe(caller, nameOf(req))), warnings: findings.map(findingWarning) });
  }

  async function answerCreated(req: Request, res: Response): Promise<void> {
    const described = await describe(callerOf(req), req.body.name);
    res.status(201).json({ ...described, warnings: described.findings.map(findingWarning) });
  }

  async function update(req: Request, res: Response): Promise<void> {
    await updateContext(deps, callerOf(req), actorOf(req), nameOf(req), req.body);
    res.json(await describe(callerOf(req), nameOf(req)));
  }

  /** The version that the query names, or the current one. */
  const versionOf = (req: Request, context: Context): Promise<Version> =>
    typeof req.query.version === 'string'
      ? getVersionBySha(prisma, context, req.query.version)
      : getCurrentVersion(prisma, context);

  return {
    listContexts: async (req, res) => {
      const caller = callerOf(req);
      const [contexts, workers] = await Promise.all([
        listContexts(prisma, caller),
        workersThatDeclare(pool, caller.workspaceId, 'contexts'),
      ]);
      res.json(contexts.map((one) => contextToApi({ ...one, caller, usedBy: workers.get(one.context.name) })));
    },
    createContext: creating(
      async (req, res) => {
        await createContext(deps, callerOf(req), actorOf(req), madeBy(req), req.body);
        await answerCreated(req, res);
      },
      { see: (req, name) => getVisibleContext(prisma, callerOf(req), name), answer: answerCreated },
    ),
    getContext: async (req, res) => {
      res.json(await describe(callerOf(req), nameOf(req)));
    },
    updateContext: update,
    setContextVisibility: update,
    deleteContext: async (req, res) => {
      const force = String(req.query.force) === 'true';
      await deleteContext(deps, callerOf(req), actorOf(req), nameOf(req), { force });
      res.status(204).end();
    },

    listContextFiles: async (req, res) => {
      const version = await versionOf(req, await find(req));
      const withContent = String(req.query.content) !== 'false';
      res.json(withContent ? (await readTree(objects, version.pack)).map(fileToApi) : version.files);
    },
    writeContextFiles: async (req, res) => {
      const { files, message = null } = req.body;
      await change(req, res, { change: (tree) => applyChanges(tree, files), message, changeSource: 'files' });
    },
    getContextFile: async (req, res) => {
      const version = await versionOf(req, await find(req));
      const path = pathOf(req);
      const file = (await readTree(objects, version.pack)).find((one) => one.path === path);
      if (!file) throw notFound('file', path);
      // Nobody's page: saved under its name, whatever it says it is, and never guessed at.
      res.attachment(posix.basename(path)).set('ETag', `"${file.sha}"`).send(file.content);
    },
    putContextFile: async (req, res) => {
      // Nobody who may not write makes us hold ten megabytes.
      await find(req);
      const { content, message } = await readFileBody(req);
      const write = (tree: Parameters<FilesChange['change']>[0]) => withFiles(tree, [{ path: pathOf(req), content }]);
      await change(req, res, { change: write, message: message ?? messageOf(req), changeSource: 'files' });
    },
    deleteContextFile: async (req, res) => {
      const path = pathOf(req);
      await changeFiles(deps, callerOf(req), actorOf(req), nameOf(req), {
        change: (tree) => {
          if (!tree.some((file) => file.path === path)) throw notFound('file', path);
          return tree.filter((file) => file.path !== path);
        },
        message: null,
        changeSource: 'files',
      });
      res.status(204).end();
    },
    uploadContextFiles: creating(
      async (req, res) => {
        const files = await readUpload(req, { extract: String(req.query.extract) === 'true' });
        const write = (tree: Parameters<FilesChange['change']>[0]) => withFiles(tree, files);
        const wanted = { change: write, message: messageOf(req), changeSource: 'upload', made: madeBy(req) } as const;
        await change(req, res, wanted);
      },
      {
        see: find,
        answer: async (req, res) => {
          const described = await describe(callerOf(req), nameOf(req));
          res.json({ ...described, warnings: described.findings.map(findingWarning) });
        },
      },
    ),

    listContextVersions: async (req, res) => {
      const context = await find(req);
      const page = { limit: Number(req.query.limit), offset: Number(req.query.offset) };
      const { versions, total } = await listVersions(prisma, context, page);
      res.set('X-Total-Count', String(total));
      res.json(versions.map((version) => versionToItem(version, context.currentVersion)));
    },
    rollBackContext: creating(
      async (req, res) => {
        const wanted = { sha: String(req.params.sha), message: messageOf(req) };
        await rollBackContext(deps, callerOf(req), actorOf(req), madeBy(req), nameOf(req), wanted);
        res.json(await describe(callerOf(req), nameOf(req)));
      },
      {
        see: find,
        answer: async (req, res) => {
          res.json(await describe(callerOf(req), nameOf(req)));
        },
      },
    ),
    downloadContext: async (req, res) => {
      const context = await find(req);
      const { pack } = await versionOf(req, context);
      const zip = await objects.get(pack.key);
      res.attachment(`${context.name}.zip`).set('Content-Length', String(pack.size));
      await pipeline(zip, res);
    },
  };
}

const nameOf = (req: Request): string => String(req.params.name);
const pathOf = (req: Request): string => String(req.params.path);

const messageOf = ({ body }: Request): string | null =>
  (typeof body?.message === 'string' && body.message.trim()) || null;
