/** One line of the palette. */
export interface Choice {
  id: string;
  group: string;
  label: string;
  /** Said behind the label, softly. */
  about?: string;
  run: () => void;
}
