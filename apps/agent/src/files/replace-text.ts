import { AppError } from '@belay/protocol';
import { splitLines, toBytes, type ToBytes } from './lines.js';

export interface Replacement {
  path: string;
  find: string;
  replace: string;
  count: number;
  all: boolean;
}

/**
 * The file’s bytes with an exact piece of text replaced. Text with LF ends that occurs only with CR LF is found too,
 * and its replacement then gets CR LF.
 */
export function replaceText(
  bytes: string,
  replacement: Replacement,
  inBytes: ToBytes = toBytes,
): { bytes: string; replaced: number } {
  const find = inBytes(replacement.find);
  const replace = inBytes(replacement.replace);
  const [wanted, put] = bytes.includes(find)
    ? [find, replace]
    : [withCrLf(find), withCrLf(replace)];
  const places = occurrences(bytes, wanted);
  const fits = replacement.all ? places.length > 0 : places.length === replacement.count;
  if (fits) return { bytes: bytes.split(wanted).join(put), replaced: places.length };
  throw wrongCount(bytes, { ...replacement, find }, places);
}

const withCrLf = (bytes: string): string => bytes.replace(/\r?\n/g, '\r\n');

/** As `split` counts them: without overlap. */
function occurrences(bytes: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + wanted.length)) {
    places.push(at);
  }
  return places;
}

function wrongCount(bytes: string, { path, find, count }: Replacement, places: number[]): AppError {
  if (places.length > 0) {
    const lines = places.slice(0, 20).map((at) => lineAt(bytes, at));
    const more = places.length > lines.length ? ', …' : '';
    return new AppError(
      'conflict',
      `The text occurs ${times(places.length)} in ${path}, not ${times(count)}: at ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}${more}. Nothing was changed; give more of the text around it, the count, or \`all\`.`,
      { lines },
    );
  }
  const near = lookAlike(bytes, find);
  const hint = near === null ? '' : ` Line ${near} differs only in whitespace.`;
  return new AppError(
    'conflict',
    `The text does not occur in ${path}. Nothing was changed.${hint}`,
  );
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

const lineAt = (bytes: string, at: number): number => splitLines(bytes.slice(0, at + 1)).length;

/** The first line where the text would match if spaces were ignored. */
function lookAlike(bytes: string, find: string): number | null {
  const wanted = squeeze(find)
    .split('\n')
    .filter((line) => line !== '');
  const lines = squeeze(bytes).split('\n');
  if (wanted.length === 0) return null;
  const index = lines.findIndex((_, at) =>
    wanted.every((line, offset) => lines[at + offset] === line),
  );
  return index < 0 ? null : index + 1;
}

const squeeze = (bytes: string): string =>
  bytes
    .split('\n')
    .map((line) => line.trim().replace(/[ \t]+/g, ' '))
    .join('\n');
