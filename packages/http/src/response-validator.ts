/** For tests: an answer that the OpenAPI file does not allow is a bug of ours. */
import type { RequestHandler } from 'express';
import type { OpenApiDocument, Operation, Schema } from './openapi-document';
import { schemaCompiler } from './schema-compiler';

export function responseValidators({ schemas }: OpenApiDocument): (operation: Operation) => RequestHandler {
  const compiler = schemaCompiler(schemas, { defaults: false });
  return ({ id, responses }) => {
    const compiled = new Map<Schema, ReturnType<typeof compiler.compile>>();
    return (_req, res, next) => {
      const json = res.json.bind(res);
      res.json = (body) => {
        const content = responses[String(res.statusCode)] ?? responses.default;
        const schema = content?.['application/json'];
        if (!content) throw new Error(`${id}: its answers have no status ${res.statusCode}`);
        if (!schema) throw new Error(`${id}: its answer of status ${res.statusCode} is no JSON`);
        const validate = compiled.get(schema) ?? compiler.compile(schema, false);
        compiled.set(schema, validate);
        if (!validate(JSON.parse(JSON.stringify(body)))) {
          throw new Error(`${id}: answer of status ${res.statusCode}: ${JSON.stringify(validate.errors)}`);
        }
        return json(body);
      };
      next();
    };
  };
}
