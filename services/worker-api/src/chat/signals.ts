/** Wakes readers on this replica when a conversation has new events; those on other replicas poll every second. */
export function createSignals() {
  const waiting = new Map<string, Set<() => void>>();
  return {
    notify(conversationId: string): void {
      const woken = waiting.get(conversationId);
      waiting.delete(conversationId);
      for (const wake of woken ?? []) wake();
    },
    /** Waits for the next notification, or the timeout. */
    wait(conversationId: string, ms: number): Promise<void> {
      return new Promise((resolve) => {
        const wakes = waiting.get(conversationId) ?? new Set();
        waiting.set(conversationId, wakes);
        const wake = () => {
          clearTimeout(timer);
          wakes.delete(wake);
          if (wakes.size === 0 && waiting.get(conversationId) === wakes) waiting.delete(conversationId);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        wakes.add(wake);
      });
    },
  };
}

export type Signals = ReturnType<typeof createSignals>;
