import { TextInput } from '@mantine/core';

/** Edits where in requests the value of a connection or secret may go: the form field `places`, for `splitNames`. */
export function PlacesField({ places }: { places: readonly string[] }) {
  return (
    <TextInput
      name="places"
      label="Allowed request parts"
      description="Comma-separated: header, path, query:name, cookie:name, body:name"
      defaultValue={places.join(', ')}
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      required
    />
  );
}
