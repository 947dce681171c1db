import { posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { notFound } from '@gantry/errors';
import {
  type Call,
  created,
  type HandlerResponse,
  noContent,
  type OperationCall,
  type Operations,
  ok,
  respondWithCountedPage,
  respondWithPage,
} from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { listDeclaringWorkers } from '../declarations/declaring-workers';
import { applyFileChanges, applyFileEdits, type FileTree, fileToApi, formatLostFiles } from '../file-trees/file-tree';
import { readTree } from '../file-trees/tree-pack';
import type { Context } from '../generated/prisma/client';
import { contextToApi, versionToItem } from './context';
import type { ContextDeps } from './context-deps';
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
import { formatFindingWarning } from './credential-findings';
import { readFileBody, readUploadedFiles } from './uploaded-files';

type ContextRequest = Pick<Call<{ name: string }>, 'caller' | 'path'>;

export function createContextOperations(deps: ContextDeps): Operations<'worker'> {
  const { prisma, pool, objects } = deps;

  const getRequestedContext = ({ caller, path }: ContextRequest) => getVisibleContext(prisma, caller, path.name);

  async function loadContextDetails(caller: Principal, name: string) {
    const context = await getVisibleContext(prisma, caller, name);
    const version = await getCurrentVersion(prisma, context);
    const usedBy = (await listDeclaringWorkers(pool, caller.workspaceId, 'contexts')).get(name);
    return contextToApi({ context, version, caller, usedBy });
  }

  async function changeFilesWithResponse(
    call: Call<{ name: string }>,
    filesChange: FilesChange,
  ): Promise<HandlerResponse> {
    const { name } = call.path;
    const { findings, lostPaths } = await changeFiles(deps, call, name, filesChange);
    const warnings = [...formatLostFiles(lostPaths), ...findings.map(formatFindingWarning)];
    return ok({ ...(await loadContextDetails(call.caller, name)), warnings });
  }

  async function loadContextWithWarnings(caller: Principal, name: string) {
    const described = await loadContextDetails(caller, name);
    return { ...described, warnings: described.findings.map(formatFindingWarning) };
  }

  async function updateContextWithResponse(
    call: OperationCall<'worker', 'updateContext' | 'setContextVisibility'>,
  ): Promise<HandlerResponse> {
    await updateContext(deps, call, call.path.name, call.body);
    return ok(await loadContextDetails(call.caller, call.path.name));
  }

  /** The version that the query names, or the current one. */
  const resolveVersion = (sha: string | undefined, context: Context): Promise<Version> =>
    sha === undefined ? getCurrentVersion(prisma, context) : getVersionBySha(prisma, context, sha);

  return {
    listContexts: async (call) => {
      const { caller } = call;
      const [contexts, workers] = await Promise.all([
        listContexts(prisma, caller),
        listDeclaringWorkers(pool, caller.workspaceId, 'contexts'),
      ]);
      return respondWithPage(call, contexts, (one) =>
        contextToApi({ ...one, caller, usedBy: workers.get(one.context.name) }),
      );
    },
    createContext: {
      create: async (call) => {
        await createContext(deps, call, call.body);
        return created(await loadContextWithWarnings(call.caller, call.body.name));
      },
      assertVisible: ({ caller }, name) => getVisibleContext(prisma, caller, name),
      answer: async ({ caller, body }) => created(await loadContextWithWarnings(caller, body.name)),
    },
    getContext: async ({ caller, path }) => ok(await loadContextDetails(caller, path.name)),
    updateContext: updateContextWithResponse,
    setContextVisibility: updateContextWithResponse,
    deleteContext: async (call) => deleteContext(deps, call, call.path.name, call.query).then(noContent),

    listContextFiles: async (call) => {
      const version = await resolveVersion(call.query.version, await getRequestedContext(call));
      if (!call.query.content) return respondWithPage(call, version.files, (file) => file);
      return respondWithPage(call, await readTree(objects, version.pack), fileToApi);
    },
    writeContextFiles: (call) => {
      const { files, message = null } = call.body;
      const change = (tree: FileTree) => applyFileEdits(tree, files);
      return changeFilesWithResponse(call, { change, message, changeSource: 'files' });
    },
    getContextFile: async (call) => {
      const version = await resolveVersion(call.query.version, await getRequestedContext(call));
      const { path } = call.path;
      const file = (await readTree(objects, version.pack)).find((one) => one.path === path);
      if (!file) throw notFound('file', path, 'in this version of the context');
      // Never shown as a page: the file is saved under its name, and its type is not guessed.
      call.res.attachment(posix.basename(path)).set('ETag', `"${file.sha}"`).send(file.content);
    },
    putContextFile: async (call) => {
      // Checked first, so that a caller who may not write can't make us hold ten megabytes.
      await getRequestedContext(call);
      const { content, message } = await readFileBody(call.req);
      const change = (tree: FileTree) => applyFileChanges(tree, [{ path: call.path.path, content }]);
      const filesChange = { change, message: message ?? findMessage(call.body), changeSource: 'files' as const };
      return changeFilesWithResponse(call, filesChange);
    },
    deleteContextFile: async (call) => {
      const { name, path } = call.path;
      await changeFiles(deps, call, name, {
        change: (tree) => {
          if (!tree.some((file) => file.path === path)) throw notFound('file', path, 'in this version of the context');
          return tree.filter((file) => file.path !== path);
        },
        message: null,
        changeSource: 'files',
      });
      return noContent();
    },
    uploadContextFiles: {
      create: async (call) => {
        const files = await readUploadedFiles(call.req, { extract: call.query.extract });
        const change = (tree: FileTree) => applyFileChanges(tree, files);
        return changeFilesWithResponse(call, { change, message: findMessage(call.body), changeSource: 'upload' });
      },
      assertVisible: getRequestedContext,
      answer: async ({ caller, path }) => ok(await loadContextWithWarnings(caller, path.name)),
    },

    listContextVersions: async (call) => {
      const context = await getRequestedContext(call);
      const { versions, total } = await listVersions(prisma, context, call.query);
      return respondWithCountedPage(call, versions, total, (one) => versionToItem(one, context.currentVersion));
    },
    rollBackContext: {
      create: async (call) => {
        const { name, sha } = call.path;
        await rollBackContext(deps, call, name, { sha, message: findMessage(call.body) });
        return ok(await loadContextDetails(call.caller, name));
      },
      assertVisible: getRequestedContext,
      answer: async ({ caller, path }) => ok(await loadContextDetails(caller, path.name)),
    },
    downloadContext: async (call) => {
      const context = await getRequestedContext(call);
      const { pack } = await resolveVersion(call.query.version, context);
      const zip = await objects.get(pack.key);
      call.res.attachment(`${context.name}.zip`).set('Content-Length', String(pack.size));
      await pipeline(zip, call.res);
    },
  };
}

const findMessage = (body: unknown): string | null =>
  (body as { message?: string } | undefined)?.message?.trim() || null;
