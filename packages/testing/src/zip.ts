import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync } from 'node:zlib';
import { ZipFile } from 'yazl';

/** The time in every entry, so that the same files have the same digest whenever they are zipped. */
const MODIFIED_AT = new Date('2026-01-01T00:00:00Z');

/** A zip as a well-meaning program makes it. */
export async function createZip(files: Record<string, string | Buffer>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(files))
    zip.addBuffer(Buffer.from(content), path, { mtime: MODIFIED_AT });
  zip.end();
  return buffer(zip.outputStream);
}

export interface RawEntry {
  name: string | Buffer;
  content?: Buffer;
  /** Default: DEFLATE. */
  method?: number;
  flags?: number;
  /** Size that the headers claim; default: the true one. */
  size?: number;
  crc?: number;
  /** st_mode of UNIX. */
  mode?: number;
}

const UTF8_FLAG = 0x800;
const MADE_BY_UNIX = 0x031e;

/** A zip as an attacker makes it: headers say what they are told to. */
export function buildRawZip(entries: RawEntry[], options: { entryCount?: number } = {}): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { name, content = Buffer.from('x'), method = 8, flags = 0, mode = 0o100644, ...claimed } of entries) {
    const data = method === 8 ? deflateRawSync(content) : content;
    const nameBytes = Buffer.from(name);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags | UTF8_FLAG, 2);
    shared.writeUInt16LE(method, 4);
    shared.writeUInt32LE(claimed.crc ?? crc32(content), 10);
    shared.writeUInt32LE(data.length, 14);
    shared.writeUInt32LE(claimed.size ?? content.length, 18);
    shared.writeUInt16LE(nameBytes.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, nameBytes, data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((mode << 16) >>> 0, 6);
    tail.writeUInt32LE(offset, 10);
    const madeBy = Buffer.alloc(2);
    madeBy.writeUInt16LE(MADE_BY_UNIX, 0);
    centrals.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), madeBy, shared, tail, nameBytes]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(options.entryCount ?? entries.length, 8);
  end.writeUInt16LE(options.entryCount ?? entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, central, end]);
}
