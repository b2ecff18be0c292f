import type { Readable } from 'node:stream';
import { AppError } from '@belay/protocol';
import type { WriteOptions } from './write-whole.js';

export interface StoredObject {
  key: string;
  bytes: number;
  /** When it was last stored, in milliseconds, by the clock of the storage. */
  storedMs: number;
}

/** Which bytes of an object: from `from` up to, but not including, `to`. It has at least `from` bytes. */
export interface ObjectRange {
  from: number;
  to: number;
}

export interface OpenObject {
  bytes: number;
  /** Whoever opens it reads it to its end, or destroys it. */
  content: Readable;
}

/**
 * Whole files by key, such as `workspaces/abc.tar`. A folder is the part of a key before a slash. Keys that are no such
 * path are `invalid_input`; a storage that does not respond is `unavailable`, and so is one that refuses this server: see
 * `isStorageRefusal`.
 */
export abstract class ObjectStore {
  /**
   * Resolves once it is stored, in the place of an earlier one. Rejects with the error of the content, of its checks or
   * of the storage, and then has changed nothing.
   */
  abstract put(key: string, content: Readable | Uint8Array, options?: WriteOptions): Promise<void>;
  /** Undefined if there is none. */
  abstract find(key: string): Promise<StoredObject | undefined>;
  /** The whole object, or a part of it. Undefined if there is none. */
  abstract open(key: string, range?: ObjectRange): Promise<OpenObject | undefined>;
  /** All below a folder, in any order; also what remained of puts that a killed server began. */
  abstract list(folder: string): AsyncIterable<StoredObject>;
  /** Also resolves if there is none. */
  abstract remove(key: string): Promise<void>;
  abstract removeFolder(folder: string): Promise<void>;
}

/** The error of a storage that refuses this server until somebody changes that, such as its key; `sentence` says what. */
export const storageRefusal = (sentence: string): AppError =>
  new AppError('unavailable', sentence, { isRefused: true });

/** Whether only a change by somebody helps, and a repetition alone does not. */
export const isStorageRefusal = (error: unknown): boolean =>
  error instanceof AppError && error.details?.['isRefused'] === true;

const keyPattern = /^\w[\w.-]*(\/[\w-][\w.-]*)*$/;
/** Keys of S3 have at most 1,024 bytes, with their prefix. */
const maxKeyLength = 512;

export const isKey = (key: string): boolean => key.length <= maxKeyLength && keyPattern.test(key);

/** The key itself. Throws `invalid_input` for what leads elsewhere, such as `../`. */
export function checkedKey(key: string): string {
  if (isKey(key)) return key;
  throw new AppError('invalid_input', 'There is no such file: its name is not one of Belay’s.');
}
