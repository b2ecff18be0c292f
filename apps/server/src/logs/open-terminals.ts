import { ignoreError } from '@belay/protocol';
import type { Config } from '../config.js';
import type { Database } from '../storage/database.js';
import type { ObjectStore } from '../storage/object-store.js';
import type { EventLog } from './event-log.js';
import { TerminalFiles } from './terminal-files.js';
import { TerminalPieces } from './terminal-pieces.js';
import type { TerminalStore } from './terminal-store.js';

/** Files of the data folder; with a bucket, which cannot append to objects, the database and the bucket. */
export const openTerminals = (
  config: Config,
  database: Database,
  objects: ObjectStore,
  log: EventLog,
): TerminalStore => {
  if (config.storage) return new TerminalPieces(database, objects, log);
  const files = new TerminalFiles(config);
  const forget = (session: string): void => {
    files.forget(session).catch(ignoreError('a file that cannot be closed is of no more use'));
  };
  log.onMoved(forget);
  log.onBegun(forget);
  return files;
};
