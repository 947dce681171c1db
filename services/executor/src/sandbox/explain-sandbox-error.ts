const REMEDIES: [RegExp, string][] = [
  [
    /ENOENT|not found/,
    'bubblewrap not found. Install it (apt-get install bubblewrap, dnf install bubblewrap), or set BWRAP to its path.',
  ],
  [
    /mount b?'\/proc'|Can't mount proc/,
    '/proc is masked here, as is usual in containers. In Kubernetes, set hostUsers: false and procMount: Unmasked. In Docker, use --security-opt systempaths=unconfined.',
  ],
  [
    /namespace|Operation not permitted|uid map|EPERM|Permission denied/,
    'User namespaces are not available to this user. On Linux, sysctl user.max_user_namespaces must be above 0; on Debian, set kernel.unprivileged_userns_clone=1; on Ubuntu, set kernel.apparmor_restrict_unprivileged_userns=0 or add a profile for bwrap. In containers, use a seccomp profile that allows clone, unshare and mount.',
  ],
];

/** Explains why no sandbox could be built, with the remedy. Runs are never executed without one. */
export function explainSandboxError(err: Error): string {
  const remedy = REMEDIES.find(([symptom]) => symptom.test(err.message))?.[1];
  return remedy ? `${err.message}\n${remedy}` : err.message;
}
