import { Button, Textarea } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import type { ChatLocationState } from '../../conversation/chat-location-state';
import { useModels } from '../../models/use-models';
import { paths } from '../../shell/paths';
import { bindText } from '../../ui/bind';
import { FormStack, handleSubmit } from '../../ui/form';
import { ArrowUpIcon } from '../../ui/icons';
import { Panel } from '../../ui/panel';

const EXAMPLE_MESSAGE = 'Create a worker that counts the words in a piece of text and runs daily at 9:00.';
const MESSAGE_CHARS_MAX = 4_000;

/** Starts a conversation with its first message. */
export function StartChatPanel() {
  const navigate = useNavigate();
  const { data: models } = useModels();
  const [text, setText] = useState('');
  const hasNoModel = models?.length === 0;

  function send() {
    const state: ChatLocationState = { draft: text.trim() || EXAMPLE_MESSAGE, isSent: true };
    void navigate(paths.chat, { state });
  }
  function onKeyDown(event: KeyboardEvent) {
    // Enter also ends a word that is being composed, as in Japanese.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (!hasNoModel) send();
  }
  return (
    <Panel title="Describe what you need">
      <FormStack align="flex-start" onSubmit={handleSubmit(send)}>
        <p>
          Describe what should happen and when. The agent writes the worker, asks before running its code, and checks
          the log.
        </p>
        <Textarea
          w="100%"
          aria-label="Describe the task"
          placeholder={EXAMPLE_MESSAGE}
          rows={3}
          maxLength={MESSAGE_CHARS_MAX}
          {...bindText(text, setText)}
          onKeyDown={onKeyDown}
        />
        <Button type="submit" variant="default" leftSection={<ArrowUpIcon />} disabled={hasNoModel}>
          {text.trim() === '' ? 'Send this example' : 'Send to the agent'}
        </Button>
        {hasNoModel && (
          <p className="caption">
            No language model is configured, so the agent isn’t available yet.{' '}
            <Link to={paths.models}>Set up a model</Link>
          </p>
        )}
      </FormStack>
    </Panel>
  );
}
