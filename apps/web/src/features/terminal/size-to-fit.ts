/** The font’s advance for each pixel of its size, and what the scrollbar takes, in pixels. */
const advance = 0.6;
const scrollbar = 14;
/** The smallest readable size in pixels; a wider terminal scrolls horizontally. */
const least = 9;

/** The size of text at which so many columns fit a width, where the wanted one is too large. */
export function sizeToFit(wanted: number, columns: number, width: number): number {
  const fitting = Math.floor(((width - scrollbar) / columns / advance) * 2) / 2;
  return Math.min(wanted, Math.max(least, fitting));
}
