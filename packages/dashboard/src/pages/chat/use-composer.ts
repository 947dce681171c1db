import { type RefObject, useEffect, useRef, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import type { ChatLocationState } from '../../conversation/chat-location-state';
import { createIdempotencyKeyProvider } from '../../conversation/idempotency-key';
import { useModels } from '../../models/use-models';
import { conversationPath, paths } from '../../shell/paths';
import { useSendMessage } from './chat-queries';

/** Manages the draft of a message and sends it. @param conversationId absent: starts a new conversation */
export function useComposer(conversationId?: string) {
  const navigate = useNavigate();
  const state = useLocation().state as ChatLocationState | null;
  const [text, setText] = useState(state?.draft ?? '');
  const [model, setModel] = useState('');
  const { data: models = [] } = useModels();
  const field = useRef<HTMLTextAreaElement>(null);
  const send = useSendMessage();
  const [getMessageKey] = useState(createIdempotencyKeyProvider);
  useFocusOnMount(field, conversationId === undefined || state?.isBegun === true);

  function sendText(messageText: string) {
    const message = {
      text: messageText,
      key: getMessageKey(messageText, send.error),
      ...(conversationId !== undefined && { conversationId }),
      ...(model && { model }),
    };
    send.mutate(message, {
      onSuccess: (sentMessage) => {
        setText((now) => (now.trim() === messageText ? '' : now));
        if (conversationId === undefined) {
          const chatState: ChatLocationState = { isBegun: true };
          void navigate(conversationPath(sentMessage.conversationId), { replace: true, state: chatState });
        }
      },
    });
  }

  useSendDraft(state, sendText);

  function setDraft(draft: string) {
    setText(draft);
    field.current?.focus();
  }

  return {
    write: setDraft,
    sendText,
    error: send.error,
    isSending: send.isPending,
    field,
    props: {
      ref: field,
      text,
      isSending: send.isPending,
      modelChoice: { models, model, onModel: setModel },
      placeholder: 'Ask a question or describe a task',
      onText: setText,
      onSend: () => sendText(text.trim()),
    },
  };
}

/** Focuses the field on devices with a keyboard. */
function useFocusOnMount(field: RefObject<HTMLTextAreaElement | null>, isEnabled: boolean) {
  useEffect(() => {
    if (!isEnabled || matchMedia('(pointer: coarse)').matches) return;
    // After the frame, which gives the focus to the content of a new page.
    const timer = setTimeout(() => {
      const textarea = field.current;
      textarea?.focus({ preventScroll: true });
      textarea?.setSelectionRange(textarea.value.length, textarea.value.length);
    });
    return () => clearTimeout(timer);
  }, [field, isEnabled]);
}

/** Sends the message that the previous page passed on; once, even if this page is reloaded. */
function useSendDraft(state: ChatLocationState | null, sendText: (text: string) => void) {
  const navigate = useNavigate();
  const isSent = useRef(false);
  const text = state?.isSent ? state.draft : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for what the page came with.
  useEffect(() => {
    if (!text || isSent.current) return;
    isSent.current = true;
    const unsentState: ChatLocationState = { draft: text };
    void navigate(paths.chat, { replace: true, state: unsentState });
    sendText(text);
  }, [text]);
}
