const escapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Removes git’s C-style quotes from an unusual name: one character for each byte. A name without quotes is unchanged. */
export function unquotedBytes(name: string): string {
  if (!name.startsWith('"')) return name;
  const end = name.lastIndexOf('"');
  const inner = name.slice(1, end > 0 ? end : undefined);
  return inner.replaceAll(/\\([0-7]{3}|.)/gs, (_, code: string) =>
    code.length === 3
      ? String.fromCharCode(Number.parseInt(code, 8) & 255)
      : (escapes[code] ?? code),
  );
}

/** Like `unquotedBytes`, with the bytes of quoted names decoded as UTF-8 if they are valid. */
export function unquotedName(name: string): string {
  if (!name.startsWith('"')) return name;
  const bytes = unquotedBytes(name);
  const encoded = Array.from(
    bytes,
    (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  try {
    return decodeURIComponent(encoded.join(''));
  } catch {
    return bytes;
  }
}

/** A name as git writes it in a patch: in quotes if it has non-printable or non-ASCII characters, quotes or backslashes. */
export function quotedName(name: string): string {
  if (!unusual.test(name)) return name;
  const octal = (hex: string): string =>
    `\\${Number.parseInt(hex, 16).toString(8).padStart(3, '0')}`;
  const bytes = Array.from(name.toWellFormed(), (character) =>
    unusual.test(character)
      ? encodeURIComponent(character).replaceAll(/%(..)/g, (_, hex: string) => octal(hex))
      : character,
  );
  return `"${bytes.join('')}"`;
}

const unusual = /[^\u0020-\u007e]|["\\]/u;
