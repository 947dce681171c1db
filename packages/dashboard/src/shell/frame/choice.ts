/** An entry of the command palette. */
export interface Choice {
  id: string;
  group: string;
  label: string;
  /** Dimmed text after the label. */
  about?: string;
  run: () => void;
}
