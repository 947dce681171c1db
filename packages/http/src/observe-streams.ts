/** JetStream's streams in a service's metrics: how near they are to refusing messages. */
import { type Bus, streamState } from '@gantry/events';
import { Gauge } from 'prom-client';

/** By name of the stream. */
const watched = new Map<string, Bus>();

const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['stream'] });
const bytesMax = gauge('gantry_stream_bytes_max', 'What a stream may hold; a full one refuses messages');
const messages = gauge('gantry_stream_messages', 'Messages that have not been consumed by all who should');

new Gauge({
  name: 'gantry_stream_bytes',
  help: 'What a stream holds; absent while JetStream does not answer',
  labelNames: ['stream'],
  async collect() {
    this.reset();
    await Promise.all(
      [...watched].map(async ([name, bus]) => {
        const state = await streamState(bus, name).catch(() => null);
        if (!state) return;
        this.set({ stream: name }, state.bytes);
        bytesMax.set({ stream: name }, state.bytesMax);
        messages.set({ stream: name }, state.messages);
      }),
    );
  },
});

/** @returns ends it */
export function observeStreams(bus: Bus, names: string[]): () => void {
  for (const name of names) watched.set(name, bus);
  return () => {
    for (const name of names) if (watched.get(name) === bus) watched.delete(name);
  };
}
