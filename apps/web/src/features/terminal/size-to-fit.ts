/** The font’s advance per pixel of its size, and the scrollbar’s width in pixels. */
const advance = 0.6;
const scrollbar = 14;
/** The smallest readable font size in pixels; wider terminals scroll horizontally. */
const least = 9;

/** The wanted font size, or a smaller one at which the columns fit the width; all in pixels. */
export function sizeToFit(wanted: number, columns: number, width: number): number {
  const fitting = Math.floor(((width - scrollbar) / columns / advance) * 2) / 2;
  return Math.min(wanted, Math.max(least, fitting));
}
