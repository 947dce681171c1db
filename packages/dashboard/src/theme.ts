import { Anchor, Button, Checkbox, createTheme, Input, Modal } from '@mantine/core';

/**
 * Behaviour and sizes of Mantine's components. Colours and type live in styles/tokens.css: the page runs under
 * `style-src 'self'`, so Mantine is not allowed to inject the style sheet that it would make of a theme, nor the one that
 * stops the page behind a dialog from scrolling.
 */
export const theme = createTheme({
  focusRing: 'auto',
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    Button: Button.extend({ defaultProps: { size: 'sm' } }),
    Input: Input.extend({ defaultProps: { size: 'md' } }),
    Checkbox: Checkbox.extend({ defaultProps: { size: 'sm' } }),
    Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }),
    Modal: Modal.extend({ defaultProps: { centered: true, lockScroll: false, transitionProps: { duration: 120 } } }),
  },
});
