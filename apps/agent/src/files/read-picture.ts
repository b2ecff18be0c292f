import { AppError } from '@belay/protocol';
import { openToRead } from './file-bytes.js';
import type { WorkspacePath } from './workspace-folder.js';

interface Picture {
  type: `image/${'png' | 'jpeg' | 'gif' | 'webp'}`;
  width: number;
  height: number;
}

/** Anthropic accepts 5 MB in base64. */
const mostBytes = 3_700_000;
/** The maximum width and height that providers accept, in pixels. */
const longestSide = 8_000;
const headBytes = 16;

/**
 * The bytes of a picture in a format that models accept; null for any other file. Throws `too_large` for one that no
 * model accepts.
 */
export async function readPicture(
  place: WorkspacePath,
): Promise<(Picture & { bytes: Buffer<ArrayBuffer> }) | null> {
  const { file, stats } = await openToRead(place);
  try {
    const head = Buffer.alloc(headBytes);
    await file.read(head, 0, headBytes, 0);
    const type = typeOf(head);
    if (type === null) return null;
    if (stats.size > mostBytes) {
      throw tooLarge(place, `${(stats.size / 1e6).toFixed(1)} MB; 3.7 MB can be shown`);
    }
    const whole = Buffer.alloc(stats.size);
    const { bytesRead } = await file.read(whole, 0, stats.size, 0);
    const bytes = whole.subarray(0, bytesRead);
    const picture = pictureOf(bytes);
    if (picture && Math.max(picture.width, picture.height) > longestSide) {
      const { width, height } = picture;
      throw tooLarge(place, `${width} × ${height} pixels; ${longestSide} a side can be shown`);
    }
    return picture && { ...picture, bytes };
  } finally {
    await file.close();
  }
}

const tooLarge = ({ given }: WorkspacePath, what: string): AppError =>
  new AppError(
    'too_large',
    `The picture ${given} has ${what}. Make a smaller copy, or open it in the browser and take a screenshot.`,
  );

/** Format and size of a picture by its content, whatever its name; null for anything else and for a broken picture. */
export function pictureOf(bytes: Buffer): Picture | null {
  const type = typeOf(bytes);
  const size = type && sizes[type](bytes);
  if (!type || !size || size.width === 0 || size.height === 0) return null;
  return { type, ...size };
}

function typeOf(bytes: Buffer): Picture['type'] | null {
  const text = bytes.toString('latin1', 0, headBytes);
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(text)) return 'image/gif';
  return /^RIFF[^]{4}WEBPVP8[ LX]/.test(text) ? 'image/webp' : null;
}

type Size = Pick<Picture, 'width' | 'height'>;

const sizes: Record<Picture['type'], (bytes: Buffer) => Size | null> = {
  'image/png': (bytes) =>
    bytes.length < 24 ? null : { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) },
  'image/gif': (bytes) =>
    bytes.length < 10 ? null : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) },
  'image/jpeg': sizeOfJpeg,
  'image/webp': sizeOfWebp,
};

/** The first frame's header among the segments. */
function sizeOfJpeg(bytes: Buffer): Size | null {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    // 0xff may be repeated as filling.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

function sizeOfWebp(bytes: Buffer): Size | null {
  if (bytes.length < 30) return null;
  const kind = bytes.toString('latin1', 12, 16);
  if (kind === 'VP8X') {
    return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
  }
  if (kind === 'VP8L') {
    const packed = bytes.readUInt32LE(21);
    return { width: 1 + (packed & 0x3fff), height: 1 + ((packed >>> 14) & 0x3fff) };
  }
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}
