/**
 * Redocly plugin: adds to each operation the tag of its file (`x-tag`) unless it has its own, the response of its errors,
 * which is the same for a whole surface (RFC 6749 aside), and the parameter for the key of an idempotent operation.
 */
import path from 'node:path';

export default function completeOperations() {
  return { id: 'gantry', preprocessors: { oas3: { 'complete-operations': createVisitor } } };
}

function createVisitor() {
  let surface;
  return {
    Root(_root, { location }) {
      surface = path.dirname(location.source.absoluteRef);
    },
    Operation(operation, { location }) {
      operation.tags ??= /^x-tag: (.+)$/m.exec(location.source.body)?.slice(1);
      const surfaceResponse = path.basename(surface) === 'automation' ? 'Error' : 'Problem';
      const response = operation['x-errors'] === 'oauth' ? 'OauthProblem' : surfaceResponse;
      operation.responses.default = { $ref: `${surface}/responses.yaml#/${response}` };
      if (!operation['x-idempotent']) return;
      const parameters = path.resolve(surface, '../common/parameters.yaml');
      operation.parameters = [...(operation.parameters ?? []), { $ref: `${parameters}#/IdempotencyKey` }];
    },
  };
}
