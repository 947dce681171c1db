/** An entry of the command palette. */
export interface PaletteItem {
  id: string;
  group: string;
  label: string;
  /** Dimmed text after the label. */
  about?: string;
  run: () => void;
}
