/** services/executor/seccomp.json, under which a container builds sandboxes. */
import fs from 'node:fs';
import path from 'node:path';
import { ALWAYS_DENIED, SEALING } from '../../../services/executor/src/sandbox/seccomp';

const profile: {
  defaultAction: string;
  syscalls: {
    comment?: string;
    names: string[];
    action: string;
    args?: { index: number; value: number; op: string }[];
  }[];
} = JSON.parse(fs.readFileSync(path.resolve(__dirname, '../../../services/executor/seccomp.json'), 'utf8'));
const allowed = profile.syscalls.flatMap(({ names }) => names);

test('it lists what is allowed, each group with its reason', () => {
  expect(profile.defaultAction).toBe('SCMP_ACT_ERRNO');
  for (const { comment, action } of profile.syscalls) {
    expect({ comment, action }).toEqual({ comment: expect.stringMatching(/\w/), action: 'SCMP_ACT_ALLOW' });
  }
});

test('a call that no sandbox may make is forbidden to the executor too', () => {
  expect(allowed.filter((name) => name in ALWAYS_DENIED)).toEqual([]);
});

test('of the calls that build sandboxes it allows only those that ours need', () => {
  const used = ['chroot', 'mount', 'pivot_root', 'sethostname', 'setns', 'umount2', 'unshare'];
  expect(allowed.filter((name) => name in SEALING).sort()).toEqual(used);
});

test('it allows only the kinds of sockets that a sandbox may open, and netlink', () => {
  const sockets = profile.syscalls.filter(({ names }) => names.includes('socket') || names.includes('socketpair'));
  const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16];
  expect(sockets.map(({ args }) => args)).toEqual(
    [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK].map((value) => [{ index: 0, value, op: 'SCMP_CMP_EQ' }]),
  );
});
