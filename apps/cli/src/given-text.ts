import { text } from 'node:stream/consumers';

/** An argument of the command line without spaces around it; `-` stands for standard input. */
export const givenText = async (given: string): Promise<string> =>
  (given === '-' ? await text(process.stdin) : given).trim();
