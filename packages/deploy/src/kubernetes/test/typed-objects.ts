/**
 * Objects of Kubernetes against the published types of their kinds. TypeScript refuses fields that a kind does not
 * know.
 */
import path from 'node:path';
import ts from 'typescript';
import { getObjectKey, type KubernetesObject } from '../rendered-manifests';

/** Packages by group; those of Kubernetes itself have none. */
const PACKAGES: Record<string, string> = {
  'external-secrets.io': '@kubernetes-models/external-secrets',
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'postgresql.cnpg.io': '@kubernetes-models/cloudnative-pg',
};
const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};

/** @returns what is wrong with the fields of each object */
export function typeProblems(objects: KubernetesObject[]): string[] {
  // Beside this file, for imports to be found; it is never written.
  const sources = new Map(objects.map((object, n) => [path.join(__dirname, `object-${n}.ts`), object]));
  const host = ts.createCompilerHost(OPTIONS);
  const { readFile, fileExists } = host;
  const readContent = (file: string) => {
    const object = sources.get(file);
    return object ? formatTypedSource(object) : readFile(file);
  };
  host.readFile = readContent;
  host.fileExists = (file) => sources.has(file) || fileExists(file);
  host.getSourceFile = (file, version) => ts.createSourceFile(file, readContent(file) ?? '', version);
  const program = ts.createProgram([...sources.keys()], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const object = file && sources.get(file.fileName);
    return `${object ? getObjectKey(object) : file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

function formatTypedSource(object: KubernetesObject): string {
  const [group = ''] = object.apiVersion.split('/');
  const from = `${PACKAGES[group] ?? 'kubernetes-models'}/${object.apiVersion}`;
  return `import type { I${object.kind} as Kind } from '${from}';\nexport const object: Kind = ${JSON.stringify(object)};\n`;
}
