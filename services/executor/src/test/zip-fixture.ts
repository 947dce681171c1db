import { crc32, deflateRawSync } from 'node:zlib';
import { ZipFile } from 'yazl';

/** A well-formed zip. */
export function zipOf(files: Record<string, string | Buffer>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    zip.outputStream.on('data', (part) => parts.push(part)).on('end', () => resolve(Buffer.concat(parts)));
  });
}

export interface CraftedEntry {
  name: string;
  data: Buffer;
  /** What the headers say the inflated size is. */
  claimedSize?: number;
  unixMode?: number;
  flags?: number;
}

/** A zip with whatever its headers should say, honest or not. */
export function craftZip(entries: CraftedEntry[]): Buffer {
  const parts: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const { name, data, claimedSize = data.length, unixMode = 0o100644, flags = 0 } of entries) {
    const deflated = deflateRawSync(data);
    const nameBytes = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    const record = Buffer.alloc(46);
    record.writeUInt32LE(0x02014b50, 0);
    record.writeUInt16LE((3 << 8) | 20, 4);
    record.writeUInt32LE((unixMode << 16) >>> 0, 38);
    record.writeUInt32LE(at, 42);
    for (const [header, shift] of [
      [local, 4],
      [record, 6],
    ] as const) {
      header.writeUInt16LE(20, shift);
      header.writeUInt16LE(flags, shift + 2);
      header.writeUInt16LE(8, shift + 4);
      header.writeUInt32LE(crc32(data), shift + 10);
      header.writeUInt32LE(deflated.length, shift + 14);
      header.writeUInt32LE(claimedSize, shift + 18);
      header.writeUInt16LE(nameBytes.length, shift + 22);
    }
    parts.push(local, nameBytes, deflated);
    central.push(record, nameBytes);
    at += 30 + nameBytes.length + deflated.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, directory, end]);
}
