const REMEDIES: [RegExp, string][] = [
  [
    /ENOENT|not found/,
    'bubblewrap was not found. Install it (apt-get install bubblewrap, dnf install bubblewrap), or point BWRAP at it.',
  ],
  [
    /mount b?'\/proc'|Can't mount proc/,
    '/proc is masked here, which is usual in containers. Kubernetes: hostUsers: false and procMount: Unmasked. Docker: --security-opt systempaths=unconfined.',
  ],
  [
    /namespace|Operation not permitted|uid map|EPERM|Permission denied/,
    'User namespaces are not available to this user. Linux: sysctl user.max_user_namespaces must be above 0; Debian: kernel.unprivileged_userns_clone=1; Ubuntu: kernel.apparmor_restrict_unprivileged_userns=0 or a profile for bwrap. Containers: a seccomp profile that allows clone, unshare and mount.',
  ],
];

/** Explains why no sandbox could be built, with the remedy. Runs are never executed without one. */
export function explainSandboxError(err: Error): string {
  const remedy = REMEDIES.find(([symptom]) => symptom.test(err.message))?.[1];
  return remedy ? `${err.message}\n${remedy}` : err.message;
}
