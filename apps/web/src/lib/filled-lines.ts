/** The lines of a text that are not blank. */
export const filledLines = (text: string): string[] =>
  text.split('\n').filter((line) => line.trim() !== '');
