import type { Task } from '../model.js';

/** One benchmark format, which reads tasks from a path. No data are bundled. */
export interface Suite {
  name: string;
  title: string;
  /**
   * Throws `invalid_input` with a sentence when the data cannot be read. `note` is called with a
   * sentence for each part of the data that is skipped.
   */
  read(path: string, note?: (sentence: string) => void): Task[];
}
