import { type RefObject, useEffect, useRef, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import type { ChatState } from '../../conversation/chat-state';
import { createMessageKeys } from '../../conversation/message-key';
import { useModels } from '../../models/use-models';
import { conversationPath, paths } from '../../shell/paths';
import { useSend } from './chat-queries';

/** Manages the draft of a message and sends it. @param conversationId absent: starts a new conversation */
export function useComposer(conversationId?: string) {
  const navigate = useNavigate();
  const state = useLocation().state as ChatState | null;
  const [text, setText] = useState(state?.draft ?? '');
  const [model, setModel] = useState('');
  const { data: models = [] } = useModels();
  const field = useRef<HTMLTextAreaElement>(null);
  const send = useSend();
  const [keyOf] = useState(createMessageKeys);
  useFocusAtArrival(field, conversationId === undefined || state?.isBegun === true);

  function sendText(wanted: string) {
    const message = {
      text: wanted,
      key: keyOf(wanted, send.error),
      ...(conversationId !== undefined && { conversationId }),
      ...(model && { model }),
    };
    send.mutate(message, {
      onSuccess: (begun) => {
        setText((now) => (now.trim() === wanted ? '' : now));
        if (conversationId === undefined) {
          const begunHere: ChatState = { isBegun: true };
          void navigate(conversationPath(begun.conversationId), { replace: true, state: begunHere });
        }
      },
    });
  }

  useSentElsewhere(state, sendText);

  function write(words: string) {
    setText(words);
    field.current?.focus();
  }

  return {
    write,
    sendText,
    error: send.error,
    isSending: send.isPending,
    field,
    props: {
      ref: field,
      ...{ text, isSending: send.isPending },
      modelChoice: { models, model, onModel: setModel },
      placeholder: 'Ask for something, or ask why',
      onText: setText,
      onSend: () => sendText(text.trim()),
    },
  };
}

/** Focuses the field on devices with a keyboard. */
function useFocusAtArrival(field: RefObject<HTMLTextAreaElement | null>, isWanted: boolean) {
  useEffect(() => {
    if (!isWanted || matchMedia('(pointer: coarse)').matches) return;
    // After the frame, which gives the focus to the content of a new page.
    const timer = setTimeout(() => {
      const shown = field.current;
      shown?.focus({ preventScroll: true });
      shown?.setSelectionRange(shown.value.length, shown.value.length);
    });
    return () => clearTimeout(timer);
  }, [field, isWanted]);
}

/** Sends the message that the previous page passed on; once, even if this page is reloaded. */
function useSentElsewhere(state: ChatState | null, sendText: (text: string) => void) {
  const navigate = useNavigate();
  const isTaken = useRef(false);
  const text = state?.isSent ? state.draft : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for what the page came with.
  useEffect(() => {
    if (!text || isTaken.current) return;
    isTaken.current = true;
    const unsent: ChatState = { draft: text };
    void navigate(paths.chat, { replace: true, state: unsent });
    sendText(text);
  }, [text]);
}
