import { type RefObject, useEffect, useRef, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { conversationPath } from '../../shell/paths';
import { useModels, useSend } from './chat-queries';
import { newKey } from './send-message';

/** State that links of the dashboard hand to the chat. A link on another site cannot set it. */
export interface ChatState {
  /** To be sent by the person, or not. */
  draft?: string;
  /** The conversation was begun on the page before. */
  isBegun?: boolean;
}

/** The message that is being written, and its sending. @param conversationId absent: it begins a new conversation */
export function useComposer(conversationId?: string) {
  const navigate = useNavigate();
  const state = useLocation().state as ChatState | null;
  const [text, setText] = useState(state?.draft ?? '');
  const [model, setModel] = useState('');
  const { data: models = [] } = useModels();
  const field = useRef<HTMLTextAreaElement>(null);
  const send = useSend();
  const attempt = useRef({ text: '', key: '' });
  useFocusAtArrival(field, conversationId === undefined || state?.isBegun === true);

  function sendText(wanted: string) {
    // The server may have taken a message whose answer was lost: with the same key it takes it only once.
    if (attempt.current.text !== wanted || !(send.error instanceof TypeError)) {
      attempt.current = { text: wanted, key: newKey() };
    }
    const message = {
      text: wanted,
      key: attempt.current.key,
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
      ...{ text, model, models, isSending: send.isPending },
      onText: setText,
      onModel: setModel,
      onSend: () => sendText(text.trim()),
    },
  };
}

/** Where there is a keyboard, the person can write at once. */
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
