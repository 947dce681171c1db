/**
 * What every operation answers beside its own results, written into the published documents: it follows from who may call
 * an operation, what it takes and how it is limited, and would otherwise be said two hundred times.
 */
const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

const HEADERS = {
  'X-Request-Id': {
    description: 'Names the request in our log; the one that was sent, if it is a sane one',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': { description: 'Requests in a minute', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'How many of them are left', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds, at most 60', schema: { type: 'integer' } },
};
const RETRY_AFTER = { 'Retry-After': { description: 'Seconds, at most 60', schema: { type: 'integer' } } };

const WORDS = {
  400: 'Malformed or invalid; each place is named',
  401: 'No credential, or one that is not valid any more',
  403: 'No member of the workspace, or a role too low',
  404: 'Unknown, or of another workspace',
  409: 'In conflict with the present state',
  413: 'The body is too large',
  415: 'A content type that the operation does not take',
  422: 'The `Idempotency-Key` was used with another request',
  429: 'Too many requests',
  503: 'A dependency is down for now',
};

/** @returns the document with the statuses that each operation can answer, and the headers of every answer */
export function documentAnswers(document) {
  const problem = document.components.responses.Problem ?? document.components.responses.Error;
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const documented = METHODS.flatMap((method) =>
      item[method] ? [[method, answersOf(path, method, item[method])]] : [],
    );
    return [path, { ...item, ...Object.fromEntries(documented) }];
  });
  return { ...document, paths: Object.fromEntries(paths) };

  function answersOf(path, method, operation) {
    const own = Object.entries(operation.responses).map(([status, answer]) => [
      status,
      withHeaders(status, resolved(answer)),
    ]);
    const errors = operation.responses.default ? statusesOf(path, method, operation) : [];
    const added = errors.map((status) => [status, withHeaders(status, { ...problem, description: WORDS[status] })]);
    return { ...operation, responses: { ...Object.fromEntries(added), ...Object.fromEntries(own) } };
  }

  function resolved(answer) {
    const name = /^#\/components\/responses\/(\w+)$/.exec(answer.$ref ?? '')?.[1];
    return name ? document.components.responses[name] : answer;
  }
}

function withHeaders(status, answer) {
  const waits = status === '429' || status === '503' || status === 'default';
  return { ...answer, headers: { ...HEADERS, ...(waits && RETRY_AFTER), ...answer.headers } };
}

function statusesOf(path, method, operation) {
  const access = operation['x-access'];
  const names = path.includes('{');
  const changes = method !== 'get';
  const takesCredential = access !== 'public';
  return [
    '400',
    ...(takesCredential ? ['401', '403'] : []),
    ...(names ? ['404'] : []),
    ...(changes ? ['409'] : []),
    ...(operation.requestBody ? ['413', '415'] : []),
    ...(operation['x-idempotent'] ? ['422'] : []),
    '429',
    '503',
  ];
}
