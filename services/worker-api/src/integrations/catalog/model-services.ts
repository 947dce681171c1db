/** Providers of language models: reached with a key that a workspace has there, by the AI SDK alone. */

export interface ModelService {
  /** Name of a connection with its key. */
  app: string;
  name: string;
  /** Where the AI SDK finds it, without a slash at the end. */
  baseUrl: string;
}

/** By the kind of a provider; one that is not here has an address of its own. */
export const modelServices: ReadonlyMap<string, ModelService> = new Map([
  ['anthropic', { app: 'anthropic', name: 'Anthropic', baseUrl: 'https://api.anthropic.com/v1' }],
  ['openai', { app: 'openai', name: 'OpenAI', baseUrl: 'https://api.openai.com/v1' }],
  ['google', { app: 'gemini', name: 'Gemini', baseUrl: 'https://generativelanguage.googleapis.com/v1beta' }],
  ['mistral', { app: 'mistral', name: 'Mistral', baseUrl: 'https://api.mistral.ai/v1' }],
]);

export const findModelService = (app: string): ModelService | undefined =>
  [...modelServices.values()].find((service) => service.app === app);
