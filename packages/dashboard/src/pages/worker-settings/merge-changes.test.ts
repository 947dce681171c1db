import { mergeChanges } from './merge-changes';

const worker = {
  connections: ['github', 'linear'],
  secrets: ['KEY'],
  contexts: [],
  expose: ['KEY'],
  in_body: ['linear'],
};

test('forms that choose connections add and remove their own', () => {
  const parts = [
    { connections: ['github', 'linear', 'slack'] },
    { connections: ['github', 'gmail'], secrets: ['KEY'] },
  ];
  expect(mergeChanges({ ...worker, in_body: [] }, parts)).toEqual({
    connections: ['github', 'slack', 'gmail'],
    secrets: ['KEY'],
  });
});

test('what is declared no longer is neither exposed nor replaced in bodies, whichever form says so', () => {
  expect(mergeChanges(worker, [{ connections: ['github'], secrets: [] }])).toEqual({
    connections: ['github'],
    secrets: [],
    expose: [],
    in_body: [],
  });
  expect(mergeChanges(worker, [{ secrets: [] }, { expose: ['KEY', 'github'] }])).toEqual({
    secrets: [],
    expose: ['github'],
  });
});

test('a change of another part changes nothing else', () => {
  expect(mergeChanges(worker, [{ on_failure: 'none' }])).toEqual({ on_failure: 'none' });
});
