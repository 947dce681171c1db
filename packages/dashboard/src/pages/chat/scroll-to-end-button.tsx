import { Button } from '@mantine/core';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ArrowDownIcon } from '../../ui/icons';
import type { Thread } from './thread';

/** Within this distance of the end, the view follows it. */
const NEAR_PX = 120;

const getScrollingElement = () => document.documentElement;
const isNearEnd = () =>
  getScrollingElement().scrollHeight - getScrollingElement().clientHeight - getScrollingElement().scrollTop < NEAR_PX;
const scrollToEnd = () => getScrollingElement().scrollTo({ top: getScrollingElement().scrollHeight });

/** Keeps the end of a conversation in view, unless the reader has scrolled up; then offers to return. */
export function ScrollToEndButton({ thread }: { thread: Thread }) {
  const [isAway, setAway] = useState(false);
  const follows = useRef(true);
  const height = useRef(0);
  const { id } = thread;
  const first = thread.turns[0]?.id;
  const shownFirst = useRef(first);

  useEffect(() => {
    const onScroll = () => {
      follows.current = isNearEnd();
      setAway(!follows.current);
    };
    addEventListener('scroll', onScroll, { passive: true });
    return () => removeEventListener('scroll', onScroll);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: with each change of what is shown.
  useLayoutEffect(() => {
    const wasPrepended = shownFirst.current !== first;
    shownFirst.current = first;
    // Earlier messages are inserted above, so the scroll position is preserved.
    if (wasPrepended) getScrollingElement().scrollBy({ top: getScrollingElement().scrollHeight - height.current });
    else if (follows.current) scrollToEnd();
    height.current = getScrollingElement().scrollHeight;
  }, [thread]);

  // Markdown, its images and expanded parts change the height later.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation starts at its end.
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (follows.current) scrollToEnd();
      height.current = getScrollingElement().scrollHeight;
    });
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [id]);

  if (!isAway) return null;
  return (
    <Button
      variant="default"
      size="xs"
      pos="absolute"
      top="-2.5rem"
      style={{ justifySelf: 'center' }}
      leftSection={<ArrowDownIcon />}
      onClick={() => {
        follows.current = true;
        setAway(false);
        scrollToEnd();
      }}
    >
      Jump to latest
    </Button>
  );
}
