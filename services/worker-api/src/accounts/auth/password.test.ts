import { findPasswordProblem, hashPassword, verifyPassword } from './password';

test('a password is stored as Argon2id with the current parameters', async () => {
  const stored = await hashPassword('correct horse battery');
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verifyPassword(stored, 'correct horse battery')).toBe(true);
  expect(await verifyPassword(stored, 'correct horse batterY')).toBe(false);
});

test('no password matches a user without one', async () => {
  expect(await verifyPassword(null, 'anything')).toBe(false);
});

test('the event loop is not blocked while passwords are hashed', async () => {
  let turns = 0;
  let hashing = true;
  const turn = () => {
    turns++;
    if (hashing) setImmediate(turn);
  };
  turn();
  await Promise.all(Array.from({ length: 4 }, () => hashPassword('correct horse battery')));
  hashing = false;
  // If hashing ran on the event loop, there would be about one turn per hash.
  expect(turns).toBeGreaterThan(50);
});

test.each(['correct horse', 'Tr0ub4dor&3', '日本語のパスワードです', '🦆🐎🔋📎🎩🦆🐎🔋📎🎩'])(
  '%j is accepted',
  (password) => {
    expect(findPasswordProblem(password, 'ada@example.com')).toBeUndefined();
  },
);

test.each(['short', '1234567890', 'qwertyuiop1', 'P@ssword12'.replace('@', 'a'), 'abababababab', 'Ada@Example.com'])(
  '%j is refused',
  (password) => {
    expect(findPasswordProblem(password, 'ada@example.com')).toBeDefined();
  },
);
