/**
 * All control characters but tabs and line ends, all that Unicode lets a renderer ignore, separators that some terminals
 * treat as line ends, and the blank pattern of Braille.
 */
export const hiddenCharacters =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u2800\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu;

/** Whether a hidden character joins two pictures, or two letters of a script that is written so. */
export function isJoinerAt(text: string, index: number): boolean {
  const sign = text[index];
  const before = text.slice(Math.max(0, index - 2), index);
  const after = text.slice(index + 1, index + 3);
  if (sign === zeroWidthJoiner && pictureEnd.test(before) && pictureStart.test(after)) return true;
  if (sign === pictureStyle)
    return /\p{Extended_Pictographic}$/u.test(before) || isKeycap(before, after);
  if (sign !== zeroWidthJoiner && sign !== zeroWidthNonJoiner) return false;
  return joinedEnd.test(before) && joinedStart.test(after);
}

const [zeroWidthNonJoiner, zeroWidthJoiner, pictureStyle] = ['\u200c', '\u200d', '\ufe0f'];
const isKeycap = (before: string, after: string): boolean =>
  /[#*\d]$/.test(before) && after.startsWith('\u20e3');
const pictureEnd = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u;
const pictureStart = /^\p{Extended_Pictographic}/u;
const joined =
  '[\\p{scx=Arab}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}\\p{scx=Syrc}]';
const joinedEnd = new RegExp(`${joined}$`, 'u');
const joinedStart = new RegExp(`^${joined}`, 'u');
