/** For tests: a response that the OpenAPI file does not allow is a bug of ours. */
import type { Response } from 'express';
import type { OpenApiDocument, Operation } from './openapi-document';
import { createForGroups, createOpenApiValidator, describeRequest, type OpenApiValidator } from './openapi-validator';
import { buildResponseDocument, toStatusKey } from './validator-document';

/** From then on `res.json` throws if the response is not as the operation's entry says. */
export type CheckResponse = (operation: Operation, res: Response) => Promise<void>;

const validators = new WeakMap<OpenApiDocument, Map<Operation, OpenApiValidator>>();

/** One set of validators for each document of the process. */
export function responseCheck(document: OpenApiDocument): CheckResponse {
  const create = (group: Operation[]) => createInstance(group, document);
  const instances = validators.get(document) ?? createForGroups(document.operations, create);
  validators.set(document, instances);
  return async (operation, res) => {
    const checked = { statusCode: '', json: (_body: unknown) => {}, getHeaders: () => JSON_HEADERS };
    const validate = instances.get(operation) as OpenApiValidator;
    await validate(describeRequest(operation, {}), checked);
    const send = res.json.bind(res);
    res.json = (body) => {
      checked.statusCode = toStatusKey(res.statusCode);
      checked.json(JSON.parse(JSON.stringify(body)));
      return send(body);
    };
  };
}

const JSON_HEADERS = { 'content-type': 'application/json' };

const createInstance = (group: Operation[], { schemas }: OpenApiDocument): OpenApiValidator =>
  createOpenApiValidator(() => buildResponseDocument(group, schemas), {
    validateRequests: false,
    validateResponses: true,
  });
