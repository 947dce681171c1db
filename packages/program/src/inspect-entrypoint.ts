import { AppError } from '@gantry/errors';
import { type Bus, type InspectReply, type InspectRequest, inspectReply, request, runSubjects } from '@gantry/events';
import type { InputItem } from './items';

const TIMEOUT_MS = 10_000;

/** Parameters that receive all inputs as one dict, or the context: contract.md, The Python side. */
const DICT_PARAMETERS = new Set(['inputs', 'input', 'data', 'event', 'payload', 'params']);
const CONTEXT_PARAMETERS = new Set(['context', 'ctx']);

export type EntrypointInspection = Required<Pick<InspectReply, 'parameters' | 'imports' | 'secrets'>>;

/** Adds every problem of a draft, and the positions of its names. */
export type DraftInspection = EntrypointInspection & Required<Pick<InspectReply, 'problems' | 'places'>>;

/** Declarations of a program beside its code. */
export interface ProgramDeclarations {
  inputs: InputItem[];
  /** As PEP 508 names them, with versions. */
  dependencies: string[];
  secrets: string[];
}

/**
 * Asks an executor to parse the entrypoint, which is neither executed nor parsed in this process.
 * @throws AppError 400 `no_run`, `syntax_error`; 503 if no executor is available
 */
export async function inspectEntrypoint(bus: Bus, inspectRequest: InspectRequest): Promise<EntrypointInspection> {
  const { ok, problem, parameters = [], imports = [], secrets = [] } = await requestInspection(bus, inspectRequest);
  if (ok) return { parameters, imports, secrets };
  const { code, message } = problem ?? { code: 'unavailable' as const, message: 'the executor gave no reason' };
  if (code === 'unavailable') throw toNoExecutorError(new Error(message));
  throw new AppError('invalid', code, `entrypoint: ${message}`, { fields: [{ path: 'entrypoint', message }] });
}

/**
 * Inspects files that are not stored yet: they travel inside the message, and their problems are returned.
 * @throws AppError 503 if no executor is available
 */
export async function inspectDraft(
  bus: Bus,
  inspectRequest: Required<Pick<InspectRequest, 'entrypoint' | 'draft'>>,
): Promise<DraftInspection> {
  const {
    problem,
    problems = [],
    places = [],
    parameters = [],
    imports = [],
    secrets = [],
  } = await requestInspection(bus, inspectRequest);
  if (problem?.code === 'unavailable') throw toNoExecutorError(new Error(problem.message));
  const general = problem ? [{ ...problem, path: inspectRequest.entrypoint, line: null, column: null }] : [];
  return { parameters, imports, secrets, places, problems: [...general, ...problems] };
}

/**
 * Asks an executor for the packages that a TOML document lists, which is not parsed in this process.
 * @throws AppError 503 if no executor is available
 */
export async function inspectToml(
  bus: Bus,
  toml: NonNullable<InspectRequest['toml']>,
): Promise<NonNullable<InspectReply['toml']>> {
  const reply = await requestInspection(bus, { entrypoint: '', toml });
  return reply.toml ?? { problem: reply.problem?.message ?? 'could not be parsed', line: null };
}

async function requestInspection(bus: Bus, inspectRequest: InspectRequest): Promise<InspectReply> {
  try {
    return await request(bus, runSubjects.inspect, inspectRequest, inspectReply, TIMEOUT_MS);
  } catch (cause) {
    throw toNoExecutorError(cause);
  }
}

const toNoExecutorError = (cause: unknown) =>
  new AppError('unavailable', 'no_executor', 'run() cannot be inspected: no executor is connected; try again shortly', {
    cause,
    retryAfterSeconds: 5,
  });

/** A reason for which runs will probably fail. */
export interface InspectionWarning {
  kind: 'parameter' | 'import' | 'secret';
  /** In the code. */
  name: string;
  message: string;
  /** The remedy, where there is a single one. */
  hint?: string;
}

export const formatInspectionWarnings = (inspection: EntrypointInspection, declared: ProgramDeclarations): string[] =>
  listInspectionWarnings(inspection, declared).map(({ message, hint }) => (hint ? `${message}: ${hint}` : message));

/** Returns warnings, not errors: a parameter may have a default, and a package may be part of another. */
export const listInspectionWarnings = (
  inspection: EntrypointInspection,
  declared: ProgramDeclarations,
): InspectionWarning[] => [
  ...listParameterWarnings(inspection.parameters, declared.inputs),
  ...listImportWarnings(inspection.imports, declared.dependencies),
  // Bounded: 50 names (NAMES_MAX of inspection.py) among 50 (`secretNames`).
  ...inspection.secrets
    .filter((name) => !declared.secrets.includes(name))
    .map((name) => ({
      kind: 'secret' as const,
      name,
      message: `the code reads ${name}, which is not among the declared secrets`,
    })),
];

function listParameterWarnings(parameters: string[], inputs: InputItem[]): InspectionWarning[] {
  const own = parameters.filter((name) => !CONTEXT_PARAMETERS.has(name) && !name.startsWith('*'));
  if (own.length === 1 && DICT_PARAMETERS.has(own[0] as string)) return [];
  const known = new Set(inputs.map(({ name }) => name));
  return own
    .filter((name) => !known.has(name))
    .map((name) => ({
      kind: 'parameter',
      name,
      message: `run() has a parameter "${name}" that is not an input in the manifest`,
    }));
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

/** A declared package's name may contain the import name, as google-cloud-storage does with `google`. */
function listImportWarnings(imports: string[], dependencies: string[]): InspectionWarning[] {
  const declared = dependencies.map((dependency) => normalizeName(/^[\w.-]+/.exec(dependency)?.[0] ?? ''));
  // Bounded: 50 imports (NAMES_MAX of inspection.py) among 50 packages (`dependencyNames`).
  return imports
    .map((name) => ({ name, source: PACKAGES[name] ?? name }))
    .filter(
      ({ name, source }) => !declared.some((one) => one === normalizeName(source) || one.includes(normalizeName(name))),
    )
    .map(({ name, source }) => ({
      kind: 'import',
      name,
      message: `the code imports ${name}`,
      hint: `declare ${source} in python_dependencies`,
    }));
}

/** Normalizes a package name for comparison, as in PEP 503. */
const normalizeName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-');
