/**
 * Models of providers as the AI SDK has them. A provider's package is loaded when one of its models is first called.
 */
import type { LanguageModel } from 'ai';
import { createBoundedFetch } from './bounded-events';
import { fetchWithoutRedirects } from './model-fetch';
import type { ModelProvider } from './model-settings';

/** @param send how it is reached */
export async function createLanguageModel(
  provider: ModelProvider,
  model: string,
  send: typeof globalThis.fetch = fetchWithoutRedirects,
): Promise<LanguageModel> {
  const { base_url: baseURL, api_key: apiKey } = provider;
  const fetch = createBoundedFetch(send, provider.kind !== 'bedrock');
  const common = { ...(baseURL !== undefined && { baseURL }), fetch };
  switch (provider.kind) {
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const { name, base_url } = provider;
      const own = { name, baseURL: base_url, includeUsage: true, ...(apiKey !== undefined && { apiKey }) };
      return createOpenAICompatible({ ...common, ...own }).chatModel(model);
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      // Not the Responses API, whose conversations stay with the provider.
      return createOpenAI({ ...common, apiKey: provider.api_key }).chat(model);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ ...common, apiKey: provider.api_key })(model);
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ ...common, apiKey: provider.api_key })(model);
    }
    case 'mistral': {
      const { createMistral } = await import('@ai-sdk/mistral');
      return createMistral({ ...common, apiKey: provider.api_key })(model);
    }
    case 'bedrock': {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      const { region, access_key_id, secret_access_key, session_token } = provider;
      return createAmazonBedrock({
        ...common,
        region,
        ...(apiKey !== undefined && { apiKey }),
        ...(access_key_id !== undefined && { accessKeyId: access_key_id }),
        ...(secret_access_key !== undefined && { secretAccessKey: secret_access_key }),
        ...(session_token !== undefined && { sessionToken: session_token }),
      })(model);
    }
  }
}
