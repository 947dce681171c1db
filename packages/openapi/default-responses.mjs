/** Redocly plugin: adds to each operation the response of its errors, which is the same for a whole surface (RFC 6749 aside). */
import path from 'node:path';

export default function defaultResponses() {
  return { id: 'gantry', preprocessors: { oas3: { 'default-responses': addDefaultResponses } } };
}

function addDefaultResponses() {
  let surface;
  return {
    Root(_root, { location }) {
      surface = path.dirname(location.source.absoluteRef);
    },
    Operation({ responses, 'x-errors': errors }) {
      const surfaceResponse = path.basename(surface) === 'automation' ? 'Error' : 'Problem';
      responses.default = { $ref: `${surface}/responses.yaml#/${errors === 'oauth' ? 'OauthProblem' : surfaceResponse}` };
    },
  };
}
