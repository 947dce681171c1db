import { type Bus, type InspectReply, type InspectRequest, inspectReply, request, runSubjects } from '@gantry/events';
import { AppError } from '@gantry/http';
import type { InputItem } from './items';

const TIMEOUT_MS = 10_000;

/** Parameters that receive all inputs as one dict, or the context: contract.md, The Python side. */
const DICT_PARAMETERS = new Set(['inputs', 'input', 'data', 'event', 'payload', 'params']);
const CONTEXT_PARAMETERS = new Set(['context', 'ctx']);

export type Inspected = Required<Pick<InspectReply, 'parameters' | 'imports' | 'secrets'>>;

/** What a program declares beside its code. */
export interface Declared {
  inputs: InputItem[];
  /** As PEP 508 names them, with versions. */
  dependencies: string[];
  secrets: string[];
}

/**
 * Asks an executor to parse the entrypoint; nothing of it is executed, and nothing of it is parsed in this process.
 * @throws AppError 400 `no_run`, `syntax_error`; 503 if no executor is available
 */
export async function inspectEntrypoint(bus: Bus, question: InspectRequest): Promise<Inspected> {
  const reply = await ask(bus, question);
  if (reply.ok)
    return { parameters: reply.parameters ?? [], imports: reply.imports ?? [], secrets: reply.secrets ?? [] };
  const { code, message } = reply.problem ?? { code: 'unavailable' as const, message: 'the executor gave no reason' };
  if (code === 'unavailable') throw noExecutor(new Error(message));
  throw new AppError('invalid', code, `entrypoint: ${message}`, { fields: [{ path: 'entrypoint', message }] });
}

async function ask(bus: Bus, question: InspectRequest): Promise<InspectReply> {
  try {
    return await request(bus, runSubjects.inspect, question, inspectReply, TIMEOUT_MS);
  } catch (cause) {
    throw noExecutor(cause);
  }
}

const noExecutor = (cause: unknown) =>
  new AppError('unavailable', 'no_executor', 'no executor is connected to inspect run(); try again shortly', {
    cause,
    retryAfterSeconds: 5,
  });

/** Reasons for which runs will probably fail. Only probably: a parameter may have a default, and a package may be part of another. */
export const warningsFor = (inspected: Inspected, declared: Declared): string[] => [
  ...parameterWarnings(inspected.parameters, declared.inputs),
  ...importWarnings(inspected.imports, declared.dependencies),
  ...inspected.secrets
    .filter((name) => !declared.secrets.includes(name))
    .map((name) => `the code reads ${name}, which is not among the declared secrets`),
];

function parameterWarnings(parameters: string[], inputs: InputItem[]): string[] {
  const own = parameters.filter((name) => !CONTEXT_PARAMETERS.has(name) && !name.startsWith('*'));
  if (own.length === 1 && DICT_PARAMETERS.has(own[0] as string)) return [];
  const known = new Set(inputs.map(({ name }) => name));
  return own
    .filter((name) => !known.has(name))
    .map((name) => `run() has a parameter "${name}" that is not an input of the manifest`);
}

/** Import names that differ from the package's name. */
const PACKAGES: Record<string, string> = {
  bs4: 'beautifulsoup4',
  Crypto: 'pycryptodome',
  cv2: 'opencv-python-headless',
  dateutil: 'python-dateutil',
  docx: 'python-docx',
  dotenv: 'python-dotenv',
  fitz: 'pymupdf',
  jwt: 'pyjwt',
  magic: 'python-magic',
  MySQLdb: 'mysqlclient',
  OpenSSL: 'pyopenssl',
  PIL: 'pillow',
  pptx: 'python-pptx',
  psycopg2: 'psycopg2-binary',
  serial: 'pyserial',
  skimage: 'scikit-image',
  sklearn: 'scikit-learn',
  slugify: 'python-slugify',
  yaml: 'pyyaml',
};

/** A declared package may contain the import name in its own, as google-cloud-storage does with `google`. */
function importWarnings(imports: string[], dependencies: string[]): string[] {
  const declared = dependencies.map((dependency) => normalized(/^[\w.-]+/.exec(dependency)?.[0] ?? ''));
  return imports
    .map((name) => ({ name, source: PACKAGES[name] ?? name }))
    .filter(({ name, source }) => !declared.some((one) => one === normalized(source) || one.includes(normalized(name))))
    .map(({ name, source }) => `the code imports ${name}: declare ${source} in python_dependencies`);
}

/** As PEP 503 compares names of packages. */
const normalized = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-');
