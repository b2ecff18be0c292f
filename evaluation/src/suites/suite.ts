import type { Task } from '../model.js';

/** One benchmark format: reads tasks from a path. Nothing of it is bundled. */
export interface Suite {
  name: string;
  title: string;
  /**
   * Throws `invalid_input` with a sentence when the data cannot be read. `note` is told, in a sentence each, what of
   * them is left out.
   */
  read(path: string, note?: (sentence: string) => void): Task[];
}
