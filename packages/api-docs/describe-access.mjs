/** Our extensions (see packages/http) say who may call an operation; here they become words that a reader sees. */
const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head'];

const ACCESS_DESCRIPTIONS = {
  public: 'Needs no credential.',
  optional: 'Needs no credential; signed-in callers may get more.',
  account: 'Needs any valid credential, also of a member of no workspace.',
  user: 'Needs any valid credential.',
  viewer: 'Needs the role viewer or higher.',
  member: 'Needs the role member or higher.',
  admin: 'Needs the role admin or higher.',
  owner: 'Needs the role owner.',
};
const RATE_LIMIT_DESCRIPTIONS = {
  runs: 'Counts against the limit of runs.',
  'sign-in': 'Counts against the limit of sign-ins.',
  none: 'Not rate limited.',
};

export function describeAccess(document) {
  for (const item of Object.values(document.paths)) {
    for (const method of METHODS)
      if (item[method]) item[method] = addAccessDescription(item[method], document.security);
  }
  return document;
}

function addAccessDescription(annotatedOperation, securitySchemes) {
  const {
    'x-access': access,
    'x-workspace': workspace,
    'x-limit': limit,
    'x-idempotent': idempotent,
    ...operation
  } = annotatedOperation;
  const words = [
    ACCESS_DESCRIPTIONS[access],
    workspace && 'Acts in the workspace that the path names.',
    RATE_LIMIT_DESCRIPTIONS[limit],
    idempotent && 'Honours `Idempotency-Key`.',
  ]
    .filter(Boolean)
    .join(' ');
  return {
    ...operation,
    description: [operation.description?.trim(), `*${words}*`].filter(Boolean).join('\n\n'),
    ...(access === 'public' && { security: [] }),
    ...(access === 'optional' && { security: [{}, ...securitySchemes] }),
  };
}
