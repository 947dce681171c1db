/**
 * What every operation answers beside its own results, written into the published documents: it follows from who may call
 * an operation, what it takes and how it is limited, and would otherwise be said two hundred times.
 */
const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

const HEADERS = {
  'X-Request-Id': {
    description: 'Identifies the request in the service log; the value that the client sent, if it is valid',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': { description: 'Requests per minute', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Requests that remain', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds, at most 60', schema: { type: 'integer' } },
};
const RETRY_AFTER = { 'Retry-After': { description: 'Seconds, at most 60', schema: { type: 'integer' } } };

const STATUS_DESCRIPTIONS = {
  400: 'Malformed or invalid; the response names each location',
  401: 'No credential, or one that is no longer valid',
  403: 'Not a member of the workspace, or a role that is too low',
  404: 'Unknown, or in another workspace',
  409: 'Conflicts with the current state',
  413: 'The body is too large',
  415: 'A content type that the operation does not take',
  422: 'The `Idempotency-Key` was used with another request',
  429: 'Too many requests',
  503: 'A dependency is temporarily down',
};

/**
 * @returns the document with the statuses that each operation can answer, and the headers of every answer. Both are written
 *   once, as components: two hundred operations with all of them would be several megabytes for a browser to draw.
 */
export function documentResponses(document) {
  const { components } = document;
  const problem = components.responses.Problem ?? components.responses.Error;
  const shared = mapValues(components.responses, (answer) => withHeaders(answer, answer === problem));
  const errors = {
    ...buildErrorResponses(problem, 'Status'),
    ...buildErrorResponses(components.responses.OauthProblem, 'OauthStatus'),
  };
  const paths = mapValues(document.paths, (item, path) =>
    mapValues(item, (part, name) => (METHODS.includes(name) ? addResponses(path, name, part) : part)),
  );
  return {
    ...document,
    paths,
    components: {
      ...components,
      headers: { ...components.headers, ...HEADERS, ...RETRY_AFTER },
      responses: { ...shared, ...errors },
    },
  };
}

/** One response per status, in the shape of `problem`; none on a surface that has no errors of that shape. */
function buildErrorResponses(errorResponse, prefix) {
  if (!errorResponse) return {};
  const statuses = Object.entries(STATUS_DESCRIPTIONS).map(([status, description]) => [
    `${prefix}${status}`,
    withHeaders({ ...errorResponse, description }, hasRetryAfter(status)),
  ]);
  return Object.fromEntries(statuses);
}

function addResponses(path, method, operation) {
  const own = mapValues(operation.responses, (answer, status) =>
    answer.$ref ? answer : withHeaders(answer, hasRetryAfter(status)),
  );
  const statuses = operation.responses.default ? listErrorStatuses(path, method, operation) : [];
  const prefix = operation['x-errors'] === 'oauth' ? 'OauthStatus' : 'Status';
  const added = statuses.map((status) => [status, { $ref: `#/components/responses/${prefix}${status}` }]);
  const needsNoCredential = operation['x-access'] === 'public' && !operation.security && { security: [] };
  return { ...operation, ...needsNoCredential, responses: { ...Object.fromEntries(added), ...own } };
}

const hasRetryAfter = (status) => ['429', '503', 'default'].includes(status);

function withHeaders(response, hasRetryAfterHeader) {
  const names = Object.keys({ ...HEADERS, ...(hasRetryAfterHeader && RETRY_AFTER) });
  const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  return { ...response, headers: { ...headers, ...response.headers } };
}

const mapValues = (object, map) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value, name)]));

function listErrorStatuses(path, method, operation) {
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
