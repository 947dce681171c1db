import { Anchor, Button, Checkbox, createTheme, Input, Text } from '@mantine/core';

/**
 * Behaviour and sizes of Mantine's components. Colours and type live in styles/tokens.css: the page runs under
 * `style-src 'self'`, so Mantine is not allowed to inject the style sheet that it would make of a theme.
 */
export const theme = createTheme({
  focusRing: 'auto',
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    Button: Button.extend({ defaultProps: { size: 'sm' } }),
    Input: Input.extend({ defaultProps: { size: 'md' } }),
    // Required fields are the rule; a run form marks them, since its inputs differ.
    InputWrapper: Input.Wrapper.extend({ defaultProps: { withAsterisk: false } }),
    Checkbox: Checkbox.extend({ defaultProps: { size: 'sm' } }),
    // A text inherits its style, except for its own properties.
    Text: Text.extend({ defaultProps: { inherit: true } }),
    Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }),
  },
});
