import { matchWildcards } from './match-wildcards.js';

/** Whether one of these names of images, in which `*` stands for any characters, is that of the image. */
export const allowsImage = (allowed: readonly string[], image: string): boolean =>
  allowed.some((pattern) =>
    matchWildcards(pattern.split(''), image.split(''), {
      isWildcard: (character) => character === '*',
      fits: (character, item) => character === item,
    }),
  );
