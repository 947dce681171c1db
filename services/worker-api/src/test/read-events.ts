/** Events of a stream, as a client has them. */
export interface ReadEvent {
  id: number;
  event: string;
  data: Record<string, never>;
}

export function parseEvents(text: string): ReadEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('id: '))
    .map((block) => {
      const [id = '', event = '', data = ''] = block.split('\n').map((line) => line.slice(line.indexOf(': ') + 2));
      return { id: Number(id), event, data: JSON.parse(data) };
    });
}
