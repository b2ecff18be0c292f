import { ownValue } from '@belay/protocol';

/** The media type of a file by its content; its name and a program’s claims are ignored. */
export function fileType(bytes: Buffer): string {
  const found = signatures.find(
    ({ at = 0, text }) => bytes.toString('latin1', at, at + text.length) === text,
  );
  if (found) return typeof found.type === 'string' ? found.type : found.type(bytes);
  if (bytes.length > 1 && bytes[0] === 0xff && [0xfb, 0xf3, 0xf2, 0xfa].includes(bytes[1] ?? 0))
    return 'audio/mpeg';
  return textType(bytes);
}

const signatures: { text: string; at?: number; type: string | ((bytes: Buffer) => string) }[] = [
  { text: '\x89PNG\r\n\x1a\n', type: 'image/png' },
  { text: '\xff\xd8\xff', type: 'image/jpeg' },
  { text: 'GIF8', type: 'image/gif' },
  {
    text: 'RIFF',
    type: (bytes) => ownValue(riffTypes, bytes.toString('latin1', 8, 12)) ?? unknown,
  },
  { text: 'ID3', type: 'audio/mpeg' },
  { text: 'OggS', type: 'audio/ogg' },
  { text: 'fLaC', type: 'audio/flac' },
  { text: 'ftypM4A', at: 4, type: 'audio/mp4' },
  { text: 'ftyp', at: 4, type: 'video/mp4' },
  { text: '\x1aE\xdf\xa3', type: 'video/webm' },
  { text: '%PDF-', type: 'application/pdf' },
  { text: 'PK\x03\x04', type: 'application/zip' },
];

const riffTypes: Record<string, string> = { WAVE: 'audio/wav', WEBP: 'image/webp' };
const unknown = 'application/octet-stream';

function textType(bytes: Buffer): string {
  if (bytes.includes(0)) return unknown;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return unknown;
  }
  const start = bytes.toString('utf8', 0, 1_000);
  return /^\uFEFF?\s*(<\?xml[^>]*>\s*)?(<!--[^>]*-->\s*)?(<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/.test(
    start,
  )
    ? 'image/svg+xml'
    : 'text/plain';
}

/** The usual end of a file’s name, such as `.png`; empty for unknown types. */
export const extensionOf = (type: string): string => ownValue(extensions, type) ?? '';

const extensions: Record<string, string> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'image/svg+xml': '.svg',
  'audio/wav': '.wav',
  'audio/mpeg': '.mp3',
  'audio/ogg': '.ogg',
  'audio/flac': '.flac',
  'audio/mp4': '.m4a',
  'video/mp4': '.mp4',
  'video/webm': '.webm',
  'application/pdf': '.pdf',
  'application/zip': '.zip',
  'text/plain': '.txt',
};

/** The image types that providers and browsers support. */
export const isPicture = (type: string): boolean => /^image\/(png|jpeg|gif|webp)$/.test(type);

export const isSound = (type: string): boolean => type.startsWith('audio/');
