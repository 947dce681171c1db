import { TextInput } from '@mantine/core';

/** Where in requests the value of a connection or secret may go: the field `places` of a form, read with `splitNames`. */
export function PlacesField({ places }: { places: readonly string[] }) {
  return (
    <TextInput
      name="places"
      label="Where in requests it may go"
      description="Separated by commas: header, path, query:name, cookie:name, body:name"
      defaultValue={places.join(', ')}
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      required
      withAsterisk={false}
    />
  );
}
