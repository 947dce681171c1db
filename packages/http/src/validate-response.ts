/** Validates responses in tests: one that the OpenAPI file does not allow is a bug. */
import type { Response } from 'express';
import type { OpenApiDocument, Operation } from './openapi-document';
import {
  buildValidatorRequest,
  createOncePerDocument,
  createOpenApiValidator,
  type OpenApiValidator,
} from './openapi-validator';
import { buildResponseDocument, toStatusKey } from './validator-document';

/** Makes the response throw before its first byte if its status, media type or body is not documented. */
export type CheckResponse = (operation: Operation, res: Response) => Promise<void>;

export function createResponseValidator(document: OpenApiDocument): CheckResponse {
  const instances = getGroupValidators(document);
  return async (operation, res) => {
    const capturedResponse = { statusCode: '', json: (_body: unknown) => {}, getHeaders: () => JSON_HEADERS };
    const validate = instances.get(operation) as OpenApiValidator;
    await validate(buildValidatorRequest(operation, {}), capturedResponse);
    const writeHead = res.writeHead.bind(res) as (...head: unknown[]) => Response;
    res.writeHead = (...head: unknown[]) => {
      assertDocumented(operation, res, head.at(-1));
      return writeHead(...head);
    };
    const send = res.json.bind(res);
    res.json = (body) => {
      capturedResponse.statusCode = toStatusKey(res.statusCode);
      capturedResponse.json(JSON.parse(JSON.stringify(body)));
      return send(body);
    };
  };
}

/** @param headers those of `writeHead`, where there are any */
function assertDocumented({ id, responses }: Operation, res: Response, headers: unknown): void {
  const { statusCode } = res;
  // `default` covers errors only.
  const content = responses[statusCode] ?? (statusCode >= FIRST_ERROR ? responses.default : undefined);
  if (!content) throw new Error(`${id}: status ${statusCode} is not documented`);
  const type = (headers as Record<string, string> | undefined)?.['Content-Type'] ?? res.get('Content-Type');
  const mediaType = type?.split(';')[0];
  // The body of a redirect is for clients that do not follow it, and a file has the type that it was stored with.
  const isRedirection = statusCode >= FIRST_REDIRECTION && statusCode < FIRST_ERROR;
  const isFile = Object.hasOwn(content, '*/*');
  if (mediaType !== undefined && !isRedirection && !isFile && !Object.hasOwn(content, mediaType))
    throw new Error(`${id}: ${mediaType} is not documented for status ${statusCode}`);
}

const FIRST_REDIRECTION = 300;
const FIRST_ERROR = 400;
const JSON_HEADERS = { 'content-type': 'application/json' };

const createGroupValidator = (group: Operation[], { schemas }: OpenApiDocument): OpenApiValidator =>
  createOpenApiValidator(() => buildResponseDocument(group, schemas), {
    validateRequests: false,
    validateResponses: true,
  });

const getGroupValidators = createOncePerDocument(createGroupValidator);
