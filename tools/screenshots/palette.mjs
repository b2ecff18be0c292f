import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A screenshot (PNG, 8 bits, RGB) as a PNG of 256 of its colours: a third of the size. */
export function withPalette(png) {
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

function commonest(pixels) {
  const counts = new Map();
  for (let at = 0; at < pixels.length; at += 3) {
    const colour = pixels.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = choose([...counts].sort((a, b) => b[1] - a[1]));
  const known = new Map(palette.map((colour, index) => [colour, index]));
  const indexOf = (colour) => {
    if (!known.has(colour)) known.set(colour, nearest(palette, colour));
    return known.get(colour);
  };
  return { palette, indexOf };
}

/** Half are the commonest; the others those that would be missed most, so that a small red dot stays red. */
function choose(counts) {
  const palette = counts.slice(0, 128).map(([colour]) => colour);
  const others = counts.slice(128).map(([colour, count]) => {
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

const loss = ({ count, away }) => away * Math.sqrt(count);

function nearest(palette, colour) {
  const distances = palette.map((each) => distance(each, colour));
  return distances.indexOf(Math.min(...distances));
}

const distance = (a, b) =>
  ((a >> 16) - (b >> 16)) ** 2 +
  (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 +
  ((a & 255) - (b & 255)) ** 2;

function decode(png) {
  const { head, data } = chunksOf(png);
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  if (head[8] !== 8 || head[9] !== 2) throw new Error('Not a PNG of 8 bits RGB.');
  const raw = inflateSync(data);
  const length = width * 3;
  const pixels = Buffer.alloc(length * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (length + 1)];
    for (let x = 0; x < length; x += 1) {
      const at = y * length + x;
      const left = x >= 3 ? pixels[at - 3] : 0;
      const up = y > 0 ? pixels[at - length] : 0;
      const corner = x >= 3 && y > 0 ? pixels[at - length - 3] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      pixels[at] = raw[y * (length + 1) + 1 + x] + guess;
    }
  }
  return { width, height, pixels };
}

function paeth(left, up, corner) {
  const guess = left + up - corner;
  const [a, b, c] = [left, up, corner].map((each) => Math.abs(guess - each));
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

function chunksOf(png) {
  const found = { head: Buffer.alloc(0), parts: [] };
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const type = png.toString('latin1', at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    if (type === 'IHDR') found.head = body;
    if (type === 'IDAT') found.parts.push(body);
  }
  return { head: found.head, data: Buffer.concat(found.parts) };
}

function chunk(type, body) {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(body.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
