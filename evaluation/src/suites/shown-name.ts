/** A name from data, for a sentence: short, and with nothing but text in it. */
export const shownName = (name: string): string =>
  name.slice(0, 80).replace(/[^\p{L}\p{N}\p{P} ]/gu, '?');
