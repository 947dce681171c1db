import { Button, Group, Text } from '@mantine/core';
import { useMergedRef } from '@mantine/hooks';
import { type KeyboardEvent, type ReactNode, type Ref, useId, useLayoutEffect, useRef } from 'react';
import type { Model } from '../shell/api';
import { bindText } from '../ui/bind';
import { ArrowUpIcon, StopSquareIcon } from '../ui/icons';
import styles from './composer.module.css';

interface ComposerProps {
  ref?: Ref<HTMLTextAreaElement>;
  text: string;
  onText: (text: string) => void;
  onSend: () => void;
  isSending: boolean;
  /** Absent: the agent is idle. */
  stop?: { isStopping: boolean; run: () => void } | undefined;
  /** Why nothing can be sent now; the text is kept. */
  blocked?: string | undefined;
  /** Absent: the model is not chosen here. */
  modelChoice?: ModelSelectProps;
  placeholder: string;
  /** Above the field. */
  banner?: ReactNode;
}

interface ModelSelectProps {
  models: readonly Model[];
  /** The name of a model; empty for the installation's default. */
  model: string;
  onModel: (model: string) => void;
}

/** Writes a message: Enter sends it, Shift and Enter begin a new line. */
export function Composer(props: ComposerProps) {
  const { ref, text, onText, onSend, isSending, stop, blocked, modelChoice, placeholder, banner: news } = props;
  const hintId = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const canSend = !blocked && !isSending && text.trim() !== '';

  // biome-ignore lint/correctness/useExhaustiveDependencies: its height follows its text.
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);

  function onKeyDown(event: KeyboardEvent) {
    // Enter also ends a word that is being composed, as in Japanese.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (canSend) onSend();
  }

  return (
    <div className={styles.place}>
      {news}
      <form
        className={styles.composer}
        onSubmit={(event) => {
          event.preventDefault();
          if (canSend) onSend();
        }}
      >
        <textarea
          ref={useMergedRef(field, ref)}
          className={styles.field}
          aria-label="Message"
          aria-describedby={hintId}
          placeholder={placeholder}
          rows={1}
          dir="auto"
          {...bindText(text, onText)}
          readOnly={isSending}
          onKeyDown={onKeyDown}
        />
        <Group gap="sm" wrap="nowrap" p="4px 8px 8px 16px">
          {modelChoice && modelChoice.models.length > 1 && <ModelSelect {...modelChoice} />}
          <Text id={hintId} flex={1} miw={0} fz="xs" c="dimmed">
            {blocked ?? 'Shift+Enter for a new line'}
          </Text>
          {stop ? (
            <Button variant="default" leftSection={<StopSquareIcon />} loading={stop.isStopping} onClick={stop.run}>
              Stop
            </Button>
          ) : (
            <Button type="submit" leftSection={<ArrowUpIcon />} loading={isSending} disabled={!canSend}>
              Send
            </Button>
          )}
        </Group>
      </form>
    </div>
  );
}

function ModelSelect({ models, model, onModel }: ModelSelectProps) {
  const defaultModel = models.find(({ is_default: isDefault }) => isDefault);
  const names = models.flatMap(({ id, aliases }) => [...aliases, id]);
  return (
    <select className={styles.model} aria-label="Model" {...bindText(model, onModel)}>
      <option value="">{defaultModel?.model ?? 'Default model'}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
