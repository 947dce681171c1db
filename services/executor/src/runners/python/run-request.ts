/** Translates a job into the sandbox's request. */
import type { Job, JobCredential } from '@gantry/events';
import { type SandboxSpec, TMP_BYTES_DEFAULT } from '../../sandbox/settings';
import { toStoreKey } from '../../store/context-store';
import type { RunInput } from '../runner';
import type { SandboxJob } from './run-in-child';

/** A valid directory name in the sandbox: a slug, like the names of contexts. */
const CONTEXT_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

export function buildSandboxSpec(
  job: Pick<Job, 'code' | 'contexts' | 'limits'>,
  deps: string | null,
  egress: boolean,
): SandboxSpec {
  const { limits } = job;
  const contexts = job.contexts ?? [];
  const names = new Set(contexts.map(({ name }) => name));
  if (names.size < contexts.length || [...names].some((name) => !CONTEXT_NAME.test(name))) {
    throw new Error('its contexts have invalid names');
  }
  return {
    code: job.code.digest,
    deps,
    egress,
    tmpBytes: limits.tmpBytes || TMP_BYTES_DEFAULT,
    cpuSeconds: limits.cpuSeconds,
    // One more thread for the forwarder to the egress proxy.
    limits: { DATA: limits.memoryBytes, NPROC: limits.processes + (egress ? 1 : 0), FSIZE: limits.tmpBytes },
    ...(contexts.length > 0 && {
      contexts: contexts.map((each) => ({ name: each.name, digest: toStoreKey(each), writeable: each.writeable })),
    }),
  };
}

export function buildSandboxJob(
  job: Job,
  { inputs, secrets, steps }: Omit<RunInput, 'canBegin'>,
  egressNonce: string | undefined,
): SandboxJob {
  const { runId, workspaceId, entrypoint, outputs, may, tools, agent, credentials = [] } = job;
  const env = credentials.length ? { ...secrets, ...buildPlaceholders(credentials) } : secrets;
  const connections = credentials.flatMap((each) => (each.kind === 'connection' ? [toConnection(each)] : []));
  return {
    op: 'run',
    runId,
    workspaceId,
    entrypoint,
    outputs,
    inputs,
    env,
    egressNonce,
    may,
    tools,
    agent,
    attempt: job.tryNumber ?? 1,
    ...(steps.length > 0 && { steps }),
    ...(connections.length > 0 && { connections }),
    ...(job.contexts && { contexts: job.contexts.map(({ name, writeable }) => ({ name, writeable })) }),
    outputBytes: job.limits.outputBytes,
    files: assignFileNames(job.files),
  };
}

/** Maps secrets with hosts to their placeholders. The values stay outside. */
const buildPlaceholders = (credentials: JobCredential[]) =>
  Object.fromEntries(
    credentials.flatMap(({ kind, name, placeholder }) => (kind === 'secret' ? [[name, placeholder]] : [])),
  );

const toConnection = ({ name, placeholder, value, exposed, hosts, baseUrl, accountLabel, scopes }: JobCredential) => ({
  name,
  token: exposed ? value : placeholder,
  hosts,
  baseUrl,
  accountLabel,
  scopes,
});

/** Converts each external file name to one path segment; two files of the same name stay separate. */
export function assignFileNames(files: Job['files']): NonNullable<SandboxJob['files']> {
  const usedNames = new Set<string>();
  return files.map(({ input, name, size }) => {
    const last = name.split(/[/\\]/).at(-1) ?? '';
    const clean = Buffer.from(last.replaceAll('\0', '')).subarray(0, 200).toString().replace(/^\.+$/, '') || 'file';
    const unique = usedNames.has(clean) ? `${usedNames.size}-${clean}` : clean;
    usedNames.add(unique);
    return { input, name: unique, size };
  });
}
