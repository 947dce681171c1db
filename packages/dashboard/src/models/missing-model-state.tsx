import { Box } from '@mantine/core';
import { CopyableCode } from '../ui/copyable-code';
import { EmptyState } from '../ui/empty-state';

/** Shown in place of the chat where no model is configured. */
export function MissingModelState({ level }: { level: 2 | 3 }) {
  return (
    <Box className="surface" p="clamp(var(--space-4), 4vw, var(--space-5))" role="alert">
      <EmptyState title="No language model is configured" level={level}>
        <p>The agent needs a language model. Everything else in Gantry works without one.</p>
        <ModelSetupInstructions />
      </EmptyState>
    </Box>
  );
}

/** Explains the variables with examples, for the operator. */
export function ModelSetupInstructions() {
  return (
    <>
      <p>
        The operator of this installation needs to configure a provider in <code>MODEL_PROVIDERS</code> and restart
        worker-api.
      </p>
      <CopyableCode label="Local model (for example, Ollama)" code={LOCAL} />
      <CopyableCode label="Provider with an API key" code={HOSTED} />
      <p>
        <code>kind</code> is <code>anthropic</code>, <code>openai</code>, <code>google</code>, <code>mistral</code>,{' '}
        <code>bedrock</code> or <code>openai-compatible</code>. Because the variable contains keys, we recommend storing
        its value in a file and setting <code>MODEL_PROVIDERS_FILE</code> to its path. See <code>docs/models.md</code>{' '}
        for details.
      </p>
    </>
  );
}

const LOCAL = `MODEL_PROVIDERS='[{
  "name": "local",
  "kind": "openai-compatible",
  "base_url": "http://127.0.0.1:11434/v1",
  "models": ["qwen3"]
}]' npm start`;

const HOSTED = `MODEL_PROVIDERS='[{
  "name": "anthropic",
  "kind": "anthropic",
  "api_key": "<key>",
  "models": ["<model>"]
}]' MODEL_ALIASES='{"smart": "anthropic/<model>"}' npm start`;
