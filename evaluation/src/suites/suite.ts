import type { Task } from '../model.js';

/** One benchmark format: reads tasks from a path. Nothing of it is bundled. */
export interface Suite {
  name: string;
  title: string;
  /** Rejects with `invalid_input` and a sentence when the data cannot be read. */
  read(path: string): Task[];
}
