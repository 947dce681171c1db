/**
 * The life of resources, from the tests that they are set up for to those that follow.
 * @sequential
 */
import { setupResource } from './setup-resource';

const seen: string[] = [];
class Thing {
  uses = 0;
  constructor(readonly name: string) {}
  use() {
    return ++this.uses;
  }
}
const end = ({ name, uses }: Thing) => seen.push(`${name} ended after ${uses}`);

describe('a fixture', () => {
  const first = setupResource(() => new Thing('first'), end);
  const second = setupResource(async () => new Thing(`second of ${first.name}`), end);
  expect(() => first.name).toThrow('before they begin');

  describe('for some of the tests', () => {
    const third = setupResource(() => new Thing('third'), end);

    test('is there when they begin, and can be built from an earlier one', () => {
      expect([first, second.name, { ...third }]).toEqual([
        new Thing('first'),
        'second of first',
        { name: 'third', uses: 0 },
      ]);
      expect(third.use()).toBe(1);
    });
  });

  test('is ended with those tests, and nothing else is', () => {
    first.use();
    expect([seen, first.use()]).toEqual([['third ended after 1'], 2]);
  });
});

test('is ended in reverse order of creation', () => {
  expect(seen.slice(1)).toEqual(['second of first ended after 0', 'first ended after 2']);
});
