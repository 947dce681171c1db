import { toApiFields } from './api-fields';

test('fields are in snake case, dates are ISO 8601, and other values are unchanged', () => {
  const at = new Date('2026-01-02T03:04:05.678Z');
  const row = {
    id: 'a',
    userAgent: null,
    createdAt: at,
    endedAt: null,
    workspace_id: 'w',
    details: { atNight: at },
    other: 1,
  };
  expect(toApiFields(row, 'id', 'userAgent', 'createdAt', 'endedAt', 'workspace_id', 'details')).toEqual({
    id: 'a',
    user_agent: null,
    created_at: '2026-01-02T03:04:05.678Z',
    ended_at: null,
    workspace_id: 'w',
    details: { atNight: at },
  });
});
