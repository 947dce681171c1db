import { Skeleton, Stack, Text } from '@mantine/core';
import { Composer } from '../../conversation/composer';
import { MissingModelState } from '../../models/missing-model-state';
import { useModels } from '../../models/use-models';
import { useTitle } from '../../shell/use-title';
import { ArrowUpIcon } from '../../ui/icons';
import styles from './chat-page.module.css';
import { useSuggestions } from './chat-queries';
import { SendError } from './send-error';
import { useComposer } from './use-composer';

/** Starts a conversation, with suggestions. */
export function NewConversation() {
  useTitle('Chat');
  const models = useModels();
  const composer = useComposer();
  const hasNoModel = models.data?.length === 0;
  return (
    <Stack component="section" className={styles.thread} gap="lg" w="100%" miw={0} aria-label="New conversation">
      <Stack gap="md" my="auto" py="md">
        <h1>{hasNoModel ? 'Chat' : 'What should the agent do?'}</h1>
        {hasNoModel ? (
          <MissingModelState level={2} />
        ) : (
          <>
            <Text maw="62ch" c="dimmed">
              The agent acts with your permissions. It can find, create, explain and fix workers, read runs and logs,
              and search skills. It asks before changing, removing or sharing anything, and before running code.
            </Text>
            <Suggestions onChoose={composer.write} />
          </>
        )}
      </Stack>
      {!hasNoModel && <Composer {...composer.props} banner={<SendError error={composer.error} />} />}
    </Stack>
  );
}

/** Offers suggestions, which fill the field and can be edited before sending. */
function Suggestions({ onChoose }: { onChoose: (text: string) => void }) {
  const { data: suggestions, error } = useSuggestions();
  if (error && !suggestions) return null;
  return (
    <ul className={styles.suggestions} aria-label="Suggestions" aria-busy={!suggestions}>
      {suggestions
        ? suggestions.map((text) => (
            <li key={text}>
              <button type="button" className={`${styles.suggestion} surface`} onClick={() => onChoose(text)}>
                <span className="wrap-anywhere">{text}</span>
                <ArrowUpIcon />
              </button>
            </li>
          ))
        : [1, 2, 3, 4].map((place) => (
            <li key={place}>
              <Skeleton height={64} radius={10} />
            </li>
          ))}
    </ul>
  );
}
