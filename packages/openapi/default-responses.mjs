/** Redocly plugin: adds to each operation the response of its errors, which is the same for a whole surface (RFC 6749 aside). */
export default function defaultResponses() {
  const addDefaultResponse = {
    Operation({ responses, 'x-errors': errors }, { location }) {
      const surfaceResponse = location.source.absoluteRef.includes('/openapi/automation/') ? 'Error' : 'Problem';
      responses.default = { $ref: `../responses.yaml#/${errors === 'oauth' ? 'OauthProblem' : surfaceResponse}` };
    },
  };
  return { id: 'gantry', preprocessors: { oas3: { 'default-responses': () => addDefaultResponse } } };
}
