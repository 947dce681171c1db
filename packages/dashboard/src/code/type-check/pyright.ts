/**
 * Checks the types of Python while it is written: pyright in web workers, spoken to by the Language Server Protocol.
 * It comes as a file of its own (4 MB on the wire) and needs no server.
 */
import workerUrl from 'browser-basedpyright/dist/pyright.worker.js?url';
import {
  BrowserMessageReader,
  BrowserMessageWriter,
  createMessageConnection,
  type MessageConnection,
  NullLogger,
} from 'vscode-jsonrpc/browser';
import gantryStub from '../../../../../services/executor/python/gantry/__init__.pyi?raw';

/** As the protocol has them: lines and characters count from 0, severities from 1 (error) to 4 (hint). */
export interface Diagnostic {
  range: { start: Position; end: Position };
  severity?: number;
  /** The rule; absent for a syntax error. */
  code?: string;
  message: string;
}

interface Position {
  line: number;
  character: number;
}

/** As the protocol has it; what it does not name here goes back to the server as it came. */
export interface CompletionItem {
  label: string;
  kind?: number;
}

export interface CheckedFile {
  path: string;
  /** Version of the text that was checked, as `update` returned it. */
  version: number;
  diagnostics: Diagnostic[];
}

interface PyrightOptions {
  /** Folders whose modules an import finds, beside the root. */
  importRoots: string[];
  onChecked: (file: CheckedFile) => void;
  /** The browser refuses to run it, or it has ended. Nothing is reported afterwards. */
  onFailure: (error: Error) => void;
}

export interface Pyright {
  /**
   * Replaces the files that it sees. Only what changed is sent and checked.
   * @param files text by path
   * @returns the version of each file
   */
  update: (files: ReadonlyMap<string, string>) => ReadonlyMap<string, number>;
  /** @param text of the file as it is now */
  complete: (path: string, text: string, position: Position) => Promise<CompletionItem[]>;
  /** @returns signature and documentation of a completion; empty where it has none */
  describe: (item: CompletionItem) => Promise<string>;
  /** @returns type and documentation of the symbol at this place; empty where there is none */
  explain: (path: string, text: string, position: Position) => Promise<string>;
  stop: () => void;
}

/** Folders of the file system that the workers hold in memory. */
const [ROOT, STUBS, TYPESHED] = ['worker', 'stubs', 'typeshed'].map((name) => `/${name}`) as [string, string, string];

const toUri = (path: string): string => `file://${ROOT}/${path.split('/').map(encodeURIComponent).join('/')}`;
const toPath = (uri: string): string => decodeURIComponent(uri).slice(`file://${ROOT}/`.length);

export function startPyright({ importRoots, onChecked, onFailure }: PyrightOptions): Pyright {
  const workers: Worker[] = [];
  const startWorker = (message: object, transfer: Transferable[] = []): Worker => {
    const worker = new Worker(workerUrl);
    workers.push(worker);
    worker.addEventListener('error', ({ message: reason }) => onFailure(new Error(reason || 'it did not start')));
    worker.postMessage(message, transfer);
    return worker;
  };
  const server = startWorker({ type: 'browser/boot', mode: 'foreground' });
  const connection = createMessageConnection(
    new BrowserMessageReader(server),
    new BrowserMessageWriter(server),
    NullLogger,
  );
  // The server requests a second worker, in which it analyses.
  server.addEventListener('message', ({ data }) => {
    if (data?.type !== 'browser/newWorker') return;
    const { initialData, port } = data;
    startWorker({ type: 'browser/boot', mode: 'background', initialData, port }, [port]);
  });
  connection.onNotification('textDocument/publishDiagnostics', ({ uri, version, diagnostics }) =>
    onChecked({ path: toPath(uri), version: version ?? 0, diagnostics }),
  );
  connection.listen();
  const ready = initialize(connection, importRoots);
  ready.catch(onFailure);

  const sent = new Map<string, { text: string; version: number }>();
  const notify = (method: string, params: object) =>
    ready.then(() => connection.sendNotification(method, params)).catch(() => undefined);

  /** Sends the text of a file where it differs from what the server has. */
  function openFile(path: string, text: string) {
    const before = sent.get(path);
    if (before?.text === text) return;
    const version = (before?.version ?? 0) + 1;
    const textDocument = { uri: toUri(path), version };
    if (before) {
      notify('textDocument/didChange', { textDocument, contentChanges: [{ text }] });
    } else {
      // Imports find a file by its name before its text is open.
      notify('pyright/createFile', { kind: 'create', uri: toUri(path) });
      notify('textDocument/didOpen', { textDocument: { ...textDocument, languageId: 'python', text } });
    }
    sent.set(path, { text, version });
  }

  /** @returns null also where the server stops before it has responded */
  const request = <Result>(method: string, params: object): Promise<Result | null> =>
    ready.then(() => connection.sendRequest<Result | null>(method, params)).catch(() => null);

  return {
    update(files) {
      for (const path of sent.keys()) {
        if (files.has(path)) continue;
        sent.delete(path);
        notify('textDocument/didClose', { textDocument: { uri: toUri(path) } });
        notify('pyright/deleteFile', { kind: 'delete', uri: toUri(path) });
      }
      for (const [path, text] of files) openFile(path, text);
      return new Map([...sent].map(([path, { version }]) => [path, version]));
    },
    async complete(path, text, position) {
      openFile(path, text);
      const params = { textDocument: { uri: toUri(path) }, position };
      const found = await request<CompletionItem[] | { items: CompletionItem[] }>('textDocument/completion', params);
      return Array.isArray(found) ? found : (found?.items ?? []);
    },
    async describe(item) {
      const found = await request<{ documentation?: Content }>('completionItem/resolve', item);
      return toPlainText(found?.documentation);
    },
    async explain(path, text, position) {
      openFile(path, text);
      const params = { textDocument: { uri: toUri(path) }, position };
      const found = await request<{ contents?: Content }>('textDocument/hover', params);
      return toPlainText(found?.contents);
    },
    stop() {
      connection.dispose();
      for (const worker of workers) worker.terminate();
    },
  };
}

type Content = string | { value: string };

const toPlainText = (content: Content | undefined): string =>
  typeof content === 'string' ? content : (content?.value ?? '');

async function initialize(connection: MessageConnection, importRoots: string[]): Promise<void> {
  const configuration = {
    typeshedPath: TYPESHED,
    typeCheckingMode: 'basic',
    pythonPlatform: 'Linux',
    extraPaths: [STUBS, ...importRoots.map((folder) => `${ROOT}/${folder}`)],
    // The executor knows which packages a worker has.
    reportMissingImports: false,
    reportMissingModuleSource: false,
  };
  const files = {
    [`${ROOT}/pyrightconfig.json`]: JSON.stringify(configuration),
    [`${STUBS}/gantry/__init__.pyi`]: gantryStub,
  };
  const rootUri = `file://${ROOT}/`;
  await connection.sendRequest('initialize', {
    processId: null,
    rootUri,
    workspaceFolders: [{ name: 'worker', uri: rootUri }],
    capabilities: {
      textDocument: {
        publishDiagnostics: { versionSupport: true },
        completion: { completionItem: { documentationFormat: ['plaintext'], resolveSupport: { properties: [] } } },
        hover: { contentFormat: ['plaintext'] },
      },
    },
    initializationOptions: { files },
  });
  await connection.sendNotification('initialized', {});
}
