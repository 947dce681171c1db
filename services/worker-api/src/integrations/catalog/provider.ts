/** A service in the catalogue: data alone, so that no provider has code of its own. */

export interface Scope {
  name: string;
  /** The right in words. */
  description: string;
  /** Asked for unless a connection names others. */
  default?: true;
}

/** A gap in the addresses of a provider, which the person who connects fills in: `{shop}`. */
export interface ProviderParameter {
  name: string;
  label: string;
  placeholder: string;
}

/**
 * An HTTP request. In `url`, `{name}` is an input of the tool, percent-encoded, or a parameter of the connection; the
 * inputs in `query` and `json` go there under their own names, if they are given.
 */
export interface RequestTemplate {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  query?: readonly string[];
  json?: readonly string[];
  /** The key of the body that holds the inputs of `json`; absent: the body itself. */
  jsonUnder?: string;
  /** Further members of the body. */
  fixed?: Readonly<Record<string, unknown>>;
  headers?: Readonly<Record<string, string>>;
  /** Only reads, whatever its method: it may be called again. */
  reads?: true;
}

export interface CatalogTool {
  name: string;
  description: string;
  /** JSON Schema of an object. */
  inputSchema: Readonly<Record<string, unknown>>;
  request: RequestTemplate;
}

export interface Provider {
  slug: string;
  name: string;
  description: string;
  category: string;
  /** One to three letters. */
  logo: string;
  docsUrl: string;
  /** Slug under which its OAuth client is set: several entries of one provider share one. */
  app: string;
  protocol: 'oauth2' | 'oidc';
  /** The issuer that ID tokens name; only for `oidc`, and for servers that people sign in to. */
  issuer?: string;
  /** It promises to name itself in every answer, so one that does not is refused (RFC 9207). */
  sendsIssuer?: boolean;
  /**
   * SHA-256 of the addresses of a service that the catalogue does not have. Credentials of one go to no other.
   */
  addressDigest?: string;
  authorizeUrl: string;
  tokenUrl: string;
  /** Set where it differs from `tokenUrl`. */
  refreshUrl?: string;
  /** More parameters of the authorization request. */
  authorizeParams?: Readonly<Record<string, string>>;
  /** More parameters of requests for tokens. */
  tokenParams?: Readonly<Record<string, string>>;
  scopeSeparator?: ',';
  scopes: readonly Scope[];
  /** Asked for always: without them nothing is refreshed, or the account stays unknown. */
  alwaysScopes?: readonly string[];
  clientAuth: 'basic' | 'post';
  /** Hosts that a token may go to; `*.example.com`: every name below one. */
  hosts: readonly string[];
  /** The header that a token is sent in, and what precedes it there. */
  send: { header: string; prefix: string };
  /** Keys that people make there are sent as tokens are, so that one can be tried. */
  keysAreSentAlike?: true;
  /** Sent along with every request to its hosts. */
  headers?: Readonly<Record<string, string>>;
  /** Name of the account: a path into the answer of `request`, or into that of the token endpoint. */
  account: { request?: RequestTemplate; label: readonly string[][] };
  /** Parameters learnt from the answer of the token endpoint: the host of a URL that it names. */
  learn?: Readonly<Record<string, string>>;
  parameters?: readonly ProviderParameter[];
  /** Null: the provider documents no way. */
  revoke: Revocation | null;
  tools: readonly CatalogTool[];
}

/** `{token}`, `{client_id}` and `{account}` are put into `url`, `form` and `json`. */
export interface Revocation {
  method: 'POST' | 'DELETE';
  url: string;
  token: 'access' | 'refresh';
  /** Authentication of the request: as the client, with the token, or none. */
  auth: 'basic' | 'bearer' | 'none';
  /** Put into the body together with the client's id and secret where `post` is said. */
  form?: Readonly<Record<string, string>>;
  json?: Readonly<Record<string, string>>;
  withClientSecret?: true;
}

export const BEARER = { header: 'Authorization', prefix: 'Bearer ' } as const;

/** A method and an address: `GET https://api.example.com/{id}`. */
type RequestLine = `${RequestTemplate['method']} https://${string}`;
/** The same, or a path below the provider's `apiUrl`. */
type ToolRequestLine = RequestLine | `${RequestTemplate['method']} /${string}`;

export const parseRequest = (line: RequestLine, options: Omit<RequestTemplate, 'method' | 'url'> = {}) => {
  const [method, url] = line.split(' ') as [RequestTemplate['method'], string];
  return { method, url, ...options };
};

export const buildAccount = (line: RequestLine, ...label: string[][]): Provider['account'] => ({
  request: parseRequest(line),
  label,
});

export const buildRfc7009Revocation = (
  url: string,
  auth: 'basic' | 'none',
  token: Revocation['token'] = 'refresh',
): Revocation => ({
  method: 'POST' as const,
  url,
  token,
  auth,
  form: { token: '{token}' },
  ...(auth === 'none' && { withClientSecret: true as const, form: { token: '{token}', client_id: '{client_id}' } }),
});

type Field = Record<string, unknown> & { required?: true };

const createField =
  (schema: Field) =>
  (description: string): Field => ({ ...schema, description });

export const textField = createField({ type: 'string' });
export const booleanField = createField({ type: 'boolean' });
export const objectField = createField({ type: 'object' });
export const stringArrayField = createField({ type: 'array', items: { type: 'string' } });
export const integerField = (description: string, maximum: number): Field =>
  createField({ type: 'integer', minimum: 1, maximum })(description);
export const objectArrayField = (description: string, maxItems?: number): Field =>
  createField({ type: 'array', items: { type: 'object' }, ...(maxItems !== undefined && { maxItems }) })(description);
export const enumField = (description: string, ...values: string[]): Field =>
  createField({ type: 'string', enum: values })(description);
export const requiredField = (field: Field): Field => ({ ...field, required: true });

interface ToolInput {
  description: string;
  line: ToolRequestLine;
  fields: Record<string, Field>;
  options: Pick<RequestTemplate, 'jsonUnder' | 'fixed' | 'reads'>;
}

export const defineTool = (
  description: string,
  line: ToolRequestLine,
  fields: ToolInput['fields'] = {},
  options: ToolInput['options'] = {},
): ToolInput => ({ description, line, fields, options });

/** Inputs that the address does not name are sent in the query by a GET, and otherwise in the body. */
function buildTool(name: string, apiUrl: string, { description, line, fields, options }: ToolInput): CatalogTool {
  const request = parseRequest(line.replace(' /', ` ${apiUrl}/`) as RequestLine, options);
  const gaps = new Set([...request.url.matchAll(/\{(\w+)\}/g)].map(([, gap]) => gap));
  const inputs = Object.keys(fields).filter((field) => !gaps.has(field));
  const required = Object.keys(fields).filter((field) => fields[field]?.required);
  const properties = Object.fromEntries(
    Object.entries(fields).map(([field, { required: _, ...schema }]) => [field, schema]),
  );
  return {
    name,
    description,
    request: { ...request, [request.method === 'GET' ? 'query' : 'json']: inputs },
    inputSchema: { type: 'object', properties, ...(required.length && { required }), additionalProperties: false },
  };
}

type Defaults = 'app' | 'protocol' | 'clientAuth' | 'send';
type ProviderInput = Omit<Provider, Defaults | 'tools'> &
  Partial<Pick<Provider, Defaults>> & { apiUrl: string; tools: Record<string, ToolInput> };

/** Fills in what most services have: a client of their own, OAuth 2, and bearer tokens. */
export const buildProvider = ({ apiUrl, tools, ...input }: ProviderInput): Provider => ({
  app: input.slug,
  protocol: 'oauth2',
  clientAuth: 'post',
  send: BEARER,
  ...input,
  tools: Object.entries(tools).map(([name, toolInput]) => buildTool(name, apiUrl, toolInput)),
});
