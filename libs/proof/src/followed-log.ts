import {
  AppError,
  hiddenLogRecord,
  storedLogHead,
  storedLogRecord,
  type StoredLogHead,
  type StoredLogRecord,
} from '@belay/protocol';
import type { z } from 'zod';
import { DoesNotHold } from './does-not-hold.js';
import {
  chainAlgorithm,
  chainDigest,
  chainFields,
  chainStart,
  contentDigest,
} from './log-chain.js';

/** Follows the chain of a published log, line by line. */
export class FollowedLog {
  readonly #end: StoredLogHead;
  #seq = 0;
  #digest: string;

  /** From the first line. Throws `AppError` for one that is not of a log. */
  constructor(line: string) {
    const end = parsed(line, storedLogHead);
    if (!end) throw new AppError('invalid_input', notOne);
    if (end.algorithm !== chainAlgorithm)
      throw new AppError(
        'invalid_input',
        `The log is chained by ${end.algorithm}, which this version does not know. Use a newer belay.`,
      );
    this.#end = end;
    this.#digest = chainStart(end.session, end.created);
  }

  get session(): string {
    return this.#end.session;
  }

  get created(): string {
    return this.#end.created;
  }

  get seq(): number {
    return this.#seq;
  }

  /** The digest of the last record so far. */
  get digest(): string {
    return this.#digest;
  }

  /** The next record, undefined if its content is hidden. Throws `DoesNotHold` for one that is not as it was stored. */
  add(line: string): StoredLogRecord | undefined {
    const number = this.#seq + 1;
    const record = parsed(line, storedLogRecord);
    const { seq, digest, content } = record
      ? { ...record, content: contentDigest(chainFields.map((field) => record[field])) }
      : (parsed(line, hiddenLogRecord) ?? {});
    if (seq === undefined || digest === undefined || content === undefined)
      throw new AppError('invalid_input', `${notOne} Line ${number + 1} is not a record.`);
    const next = chainDigest(this.#digest, content);
    if (seq !== number || digest !== next || (record && record.session !== this.session))
      throw new DoesNotHold(
        `Record ${number} of the log was changed: from there on nothing holds.`,
      );
    this.#seq = number;
    this.#digest = next;
    return record;
  }

  /** Throws `DoesNotHold` unless the log ends as its first line says. */
  end(): void {
    const { seq, head } = this.#end;
    if (this.#seq !== seq)
      throw new DoesNotHold(`The log ends at ${this.#seq}; its first line says ${seq}.`);
    if (this.#digest !== head)
      throw new DoesNotHold('The log ends with another digest than its first line says.');
  }
}

const notOne = 'This is not a log with digests. Make one with: belay log SESSION --chain';

function parsed<T extends z.ZodType>(line: string, schema: T): z.output<T> | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
