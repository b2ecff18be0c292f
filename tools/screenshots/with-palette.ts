import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Converts a screenshot (PNG, 8 bits, RGB) to a PNG with a palette of 256 colours, a third of the
 * size.
 */
export function withPalette(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png);
  const { palette, indexOf } = commonest(pixels);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      rows[y * (width + 1) + 1 + x] = indexOf(pixels.readUIntBE((y * width + x) * 3, 3));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.alloc(palette.length * 3);
  palette.forEach((colour, index) => colours.writeUIntBE(colour, index * 3, 3));
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function commonest(pixels: Buffer): { palette: number[]; indexOf(colour: number): number } {
  const counts = new Map<number, number>();
  for (let at = 0; at < pixels.length; at += 3) {
    const colour = pixels.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = choose([...counts].sort((a, b) => b[1] - a[1]));
  const known = new Map(palette.map((colour, index) => [colour, index]));
  const indexOf = (colour: number) => {
    const index = known.get(colour) ?? nearest(palette, colour);
    known.set(colour, index);
    return index;
  };
  return { palette, indexOf };
}

/**
 * A colour for the second half of the palette. The first half is the most frequent colours; the
 * second those that would be missed most, so that a small red dot stays red.
 */
interface Candidate {
  colour: number;
  count: number;
  /** Distance to the nearest colour of the palette. */
  away: number;
}

function choose(counts: [colour: number, count: number][]): number[] {
  const palette = counts.slice(0, 128).map(([colour]) => colour);
  const others = counts.slice(128).map(([colour, count]): Candidate => {
    const away = Math.min(...palette.map((each) => distance(each, colour)));
    return { colour, count, away };
  });
  while (palette.length < 256 && others.length > 0) {
    const missed = others.reduce((worst, each) => (loss(each) > loss(worst) ? each : worst));
    if (missed.away === 0) break;
    palette.push(missed.colour);
    for (const each of others)
      each.away = Math.min(each.away, distance(missed.colour, each.colour));
  }
  return palette;
}

const loss = ({ count, away }: Candidate) => away * Math.sqrt(count);

function nearest(palette: number[], colour: number): number {
  const distances = palette.map((each) => distance(each, colour));
  return distances.indexOf(Math.min(...distances));
}

const distance = (a: number, b: number) =>
  ((a >> 16) - (b >> 16)) ** 2 +
  (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 +
  ((a & 255) - (b & 255)) ** 2;

function decode(png: Buffer): { width: number; height: number; pixels: Buffer } {
  const { head, data } = chunksOf(png);
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  if (head[8] !== 8 || head[9] !== 2) throw new Error('Not a PNG of 8 bits RGB.');
  const raw = inflateSync(data);
  const length = width * 3;
  const pixels = Buffer.alloc(length * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (length + 1)] ?? 0;
    for (let x = 0; x < length; x += 1) {
      const at = y * length + x;
      const pixel = (index: number) => pixels[index] ?? 0;
      const left = x >= 3 ? pixel(at - 3) : 0;
      const up = y > 0 ? pixel(at - length) : 0;
      const corner = x >= 3 && y > 0 ? pixel(at - length - 3) : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      pixels[at] = (raw[y * (length + 1) + 1 + x] ?? 0) + guess;
    }
  }
  return { width, height, pixels };
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

function chunksOf(png: Buffer): { head: Buffer; data: Buffer } {
  let head = Buffer.alloc(0);
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const type = png.toString('latin1', at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    if (type === 'IHDR') head = Buffer.from(body);
    if (type === 'IDAT') parts.push(body);
  }
  return { head, data: Buffer.concat(parts) };
}

function chunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(body.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
