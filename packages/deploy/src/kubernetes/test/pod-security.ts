/**
 * The Pod Security Standards, as far as a Pod can break them:
 * https://kubernetes.io/docs/concepts/security/pod-security-standards/
 */
import { listContainers, type Workload } from '../rendered-manifests';

const RESTRICTED_VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const HOST = ['hostNetwork', 'hostPID', 'hostIPC'];

export type Level = 'privileged' | 'baseline' | 'restricted';

export function podSecurityProblems(level: Level, workload: Workload): string[] {
  const { pod } = workload;
  if (level === 'privileged') return [];
  const volumes = (pod.volumes ?? []).map(({ name, ...source }) => ({ name, type: Object.keys(source)[0] ?? '' }));
  const baseline = [
    ...HOST.filter((key) => (pod as unknown as Record<string, unknown>)[key]),
    ...volumes.filter(({ type }) => type === 'hostPath').map(({ name }) => `volume ${name}`),
    ...listContainers(workload).flatMap(({ name, securityContext: own = {} }) => [
      ...(own.privileged ? [`${name}: privileged`] : []),
      ...(own.procMount === 'Unmasked' && pod.hostUsers !== false ? [`${name}: procMount`] : []),
      ...(own.seccompProfile?.type === 'Unconfined' ? [`${name}: seccomp`] : []),
      ...(own.capabilities?.add?.length ? [`${name}: capabilities`] : []),
    ]),
  ];
  if (level === 'baseline') return baseline;
  return [
    ...baseline,
    ...volumes.filter(({ type }) => !RESTRICTED_VOLUMES.includes(type)).map(({ name }) => `volume ${name}`),
    ...listContainers(workload).flatMap(({ name, securityContext: own = {} }) => {
      const of = (key: 'runAsNonRoot' | 'runAsUser') => own[key] ?? pod.securityContext?.[key];
      return [
        ...(own.allowPrivilegeEscalation === false ? [] : [`${name}: allowPrivilegeEscalation`]),
        ...(own.capabilities?.drop?.includes('ALL') ? [] : [`${name}: capabilities`]),
        ...(of('runAsNonRoot') === true && of('runAsUser') !== 0 ? [] : [`${name}: runAsNonRoot`]),
        ...((own.seccompProfile ?? pod.securityContext?.seccompProfile) ? [] : [`${name}: seccomp`]),
        ...(own.procMount === 'Unmasked' ? [`${name}: procMount`] : []),
      ];
    }),
  ];
}
