import { text } from 'node:stream/consumers';

/** A command-line argument without surrounding spaces; `-` stands for standard input. */
export const givenText = async (given: string): Promise<string> =>
  (given === '-' ? await text(process.stdin) : given).trim();
