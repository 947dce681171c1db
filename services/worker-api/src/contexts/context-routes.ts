import { posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { notFound } from '@gantry/errors';
import {
  buildPageHeaders,
  type Call,
  created,
  type HandlerResponse,
  noContent,
  type OperationCall,
  type Operations,
  ok,
  respondWithPage,
} from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { workersThatDeclare } from '../declarations/workers-that-declare';
import { applyChanges, fileToApi, formatLostFiles, withFiles } from '../file-trees/file-tree';
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
import { findingWarning } from './credential-findings';
import { readFileBody, readUpload } from './uploaded-files';

type InContext = Pick<Call<{ name: string }>, 'caller' | 'path'>;

export function contextOperations(deps: ContextDeps): Operations<'worker'> {
  const { prisma, pool, objects } = deps;

  const find = ({ caller, path }: InContext) => getVisibleContext(prisma, caller, path.name);

  async function describe(caller: Principal, name: string) {
    const context = await getVisibleContext(prisma, caller, name);
    const version = await getCurrentVersion(prisma, context);
    const usedBy = (await workersThatDeclare(pool, caller.workspaceId, 'contexts')).get(name);
    return contextToApi({ context, version, caller, usedBy });
  }

  async function change(call: Call<{ name: string }>, wanted: FilesChange): Promise<HandlerResponse> {
    const { name } = call.path;
    const { findings, lostPaths } = await changeFiles(deps, call, name, wanted);
    const warnings = [...formatLostFiles(lostPaths), ...findings.map(findingWarning)];
    return ok({ ...(await describe(call.caller, name)), warnings });
  }

  async function withWarnings(caller: Principal, name: string) {
    const described = await describe(caller, name);
    return { ...described, warnings: described.findings.map(findingWarning) };
  }

  async function update(
    call: OperationCall<'worker', 'updateContext' | 'setContextVisibility'>,
  ): Promise<HandlerResponse> {
    await updateContext(deps, call, call.path.name, call.body);
    return ok(await describe(call.caller, call.path.name));
  }

  /** The version that the query names, or the current one. */
  const resolveVersion = (sha: string | undefined, context: Context): Promise<Version> =>
    sha === undefined ? getCurrentVersion(prisma, context) : getVersionBySha(prisma, context, sha);

  return {
    listContexts: async (call) => {
      const { caller } = call;
      const [contexts, workers] = await Promise.all([
        listContexts(prisma, caller),
        workersThatDeclare(pool, caller.workspaceId, 'contexts'),
      ]);
      return respondWithPage(call, contexts, (one) =>
        contextToApi({ ...one, caller, usedBy: workers.get(one.context.name) }),
      );
    },
    createContext: {
      create: async (call) => {
        await createContext(deps, call, call.body);
        return created(await withWarnings(call.caller, call.body.name));
      },
      assertVisible: ({ caller }, name) => getVisibleContext(prisma, caller, name),
      answer: async ({ caller, body }) => created(await withWarnings(caller, body.name)),
    },
    getContext: async ({ caller, path }) => ok(await describe(caller, path.name)),
    updateContext: update,
    setContextVisibility: update,
    deleteContext: async (call) => deleteContext(deps, call, call.path.name, call.query).then(noContent),

    listContextFiles: async (call) => {
      const version = await resolveVersion(call.query.version, await find(call));
      if (!call.query.content) return respondWithPage(call, version.files, (file) => file);
      return respondWithPage(call, await readTree(objects, version.pack), fileToApi);
    },
    writeContextFiles: (call) => {
      const { files, message = null } = call.body;
      return change(call, { change: (tree) => applyChanges(tree, files), message, changeSource: 'files' });
    },
    getContextFile: async (call) => {
      const version = await resolveVersion(call.query.version, await find(call));
      const { path } = call.path;
      const file = (await readTree(objects, version.pack)).find((one) => one.path === path);
      if (!file) throw notFound('file', path, 'in this version of the context');
      // Never shown as a page: the file is saved under its name, and its type is not guessed.
      call.res.attachment(posix.basename(path)).set('ETag', `"${file.sha}"`).send(file.content);
    },
    putContextFile: async (call) => {
      // Checked first, so that a caller who may not write can't make us hold ten megabytes.
      await find(call);
      const { content, message } = await readFileBody(call.req);
      const write = (tree: Parameters<FilesChange['change']>[0]) =>
        withFiles(tree, [{ path: call.path.path, content }]);
      return change(call, { change: write, message: message ?? getMessage(call.body), changeSource: 'files' });
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
        const files = await readUpload(call.req, { extract: call.query.extract });
        const write = (tree: Parameters<FilesChange['change']>[0]) => withFiles(tree, files);
        return change(call, { change: write, message: getMessage(call.body), changeSource: 'upload' });
      },
      assertVisible: find,
      answer: async ({ caller, path }) => ok(await withWarnings(caller, path.name)),
    },

    listContextVersions: async (call) => {
      const context = await find(call);
      const { versions, total } = await listVersions(prisma, context, call.query);
      return ok(
        versions.map((version) => versionToItem(version, context.currentVersion)),
        buildPageHeaders(call.req, call.query, total),
      );
    },
    rollBackContext: {
      create: async (call) => {
        const { name, sha } = call.path;
        await rollBackContext(deps, call, name, { sha, message: getMessage(call.body) });
        return ok(await describe(call.caller, name));
      },
      assertVisible: find,
      answer: async ({ caller, path }) => ok(await describe(caller, path.name)),
    },
    downloadContext: async (call) => {
      const context = await find(call);
      const { pack } = await resolveVersion(call.query.version, context);
      const zip = await objects.get(pack.key);
      call.res.attachment(`${context.name}.zip`).set('Content-Length', String(pack.size));
      await pipeline(zip, call.res);
    },
  };
}

const getMessage = (body: unknown): string | null =>
  (body as { message?: string } | undefined)?.message?.trim() || null;
