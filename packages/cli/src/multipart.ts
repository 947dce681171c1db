/** Forms with one file, as multipart/form-data. */

interface FormFile {
  field: string;
  name: string;
  type: string;
  content: Uint8Array;
}

/** @param fields names that the program chooses, and values */
export function encodeForm(fields: Record<string, string>, { field, name, type, content }: FormFile) {
  const boundary = `gantry-${crypto.randomUUID()}`;
  const openPart = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  const texts = Object.entries(fields).map(([key, value]) => `${openPart(`name="${key}"`)}\r\n${value}\r\n`);
  const head = `${openPart(`name="${field}"; filename="${name}"`)}Content-Type: ${type}\r\n\r\n`;
  return {
    bytes: Buffer.concat([Buffer.from(texts.join('') + head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    /** Value of the Content-Type header. */
    type: `multipart/form-data; boundary=${boundary}`,
  };
}
