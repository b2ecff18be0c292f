import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { errorFrom } from '@belay/protocol';
import type { Selectable } from 'kysely';
import type { Database } from '../storage/database.js';
import type { TerminalPieceTable } from '../storage/database-schema.js';
import type { ObjectStore } from '../storage/object-store.js';
import type { TerminalPlace } from './terminal-store.js';

type Row = Pick<Selectable<TerminalPieceTable>, 'start' | 'length' | 'kept'>;

/** What a row needs beside its bytes, about. */
export const pieceOverhead = 128;
const leastObject = 2 ** 20;
const mostObject = 8 * 2 ** 20;
/** Rows of more bytes are not copied again to larger ones. */
const smallRow = 64 * 1024;
const mostRows = 256;

/**
 * Puts pieces of a terminal together, in the background: to objects of 1 to 8 MiB, and before there are so many bytes, to
 * fewer rows. Pieces never change, and only rows that are all still there are replaced, so several servers may do it at
 * once. While the bucket does not respond, the rows stay.
 */
export class PieceFolder {
  readonly #logger = new Logger(PieceFolder.name);
  #rows = 0;
  #bytes = 0;
  #last = 0;
  /** Earlier pieces are as they will stay. */
  #from = 0;
  #running: Promise<void> | undefined;

  constructor(
    private readonly database: Database,
    private readonly objects: ObjectStore,
    private readonly place: TerminalPlace,
    /** Called with the number of rows that there are less now. */
    private readonly saved: (rows: number) => void,
  ) {}

  /** A piece was stored. It begins at `start`, and stays, because output that is not kept may lengthen it. */
  added(bytes: number, start: number): void {
    this.#rows += 1;
    this.#bytes += bytes;
    this.#last = start;
    this.#running ??= this.#run();
  }

  /** Resolves when nothing is being put together. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Undefined while there is too little. */
  #run(): Promise<void> | undefined {
    if (this.#rows < mostRows && this.#bytes < leastObject) return undefined;
    this.#rows = 0;
    this.#bytes = 0;
    return this.#fold(this.#last)
      .catch((error: unknown) => this.#logger.warn(errorFrom(error).message))
      .then(() => (this.#running = this.#run()));
  }

  async #fold(last: number): Promise<void> {
    const rows = await this.#select()
      .select(['start', 'length', 'kept'])
      .where('object', 'is', null)
      .where('start', '>=', this.#from)
      .where('start', '<', last)
      .orderBy('start')
      .execute();
    const runs = runsOf(rows);
    for (const [index, run] of runs.entries()) {
      const rest = await this.#foldRun(run);
      const isOpen = index === runs.length - 1 && !rest.some(hasHole);
      this.#from = (isOpen ? rest[0]?.start : undefined) ?? endOf(run);
    }
  }

  /** Makes objects of what is enough for one, and returns the rows that are left. */
  async #foldRun(run: Row[]): Promise<Row[]> {
    let rest = run;
    while (keptBy(rest) >= leastObject) {
      const rows = objectOf(rest);
      await this.#replace(rows, 'object');
      rest = rest.slice(rows.length);
    }
    for (const rows of smallOnes(rest)) if (rows.length > 1) await this.#replace(rows, 'row');
    return rest;
  }

  async #replace(rows: readonly Row[], by: 'object' | 'row'): Promise<void> {
    const { session, terminal } = this.place;
    const start = rows[0]?.start ?? 0;
    const end = endOf(rows);
    const found = await this.#select()
      .select('bytes')
      .where('start', '>=', start)
      .where('start', '<', end)
      .orderBy('start')
      .execute();
    const bytes = Buffer.concat(found.map((row) => row.bytes ?? Buffer.alloc(0)));
    const object =
      by === 'row' ? null : `terminals/${session}/${terminal}.${start}.${randomUUID()}`;
    if (object !== null) await this.objects.put(object, bytes);
    const row = { ...this.place, start, length: end - start, kept: bytes.length };
    const stored = { ...row, object, bytes: object === null ? bytes : null };
    try {
      await this.database.kysely.transaction().execute(async (connection) => {
        const removed = await connection
          .deleteFrom('terminal_piece')
          .where('session', '=', session)
          .where('terminal', '=', terminal)
          .where('start', '>=', start)
          .where('start', '<', end)
          .where('object', 'is', null)
          .returning(['start', 'length', 'kept'])
          .execute();
        const isAll = removed.length === rows.length && keptBy(removed) === bytes.length;
        if (!isAll) throw new Error('Another server has put these pieces together.');
        await connection.insertInto('terminal_piece').values(stored).execute();
      });
    } catch (error) {
      if (object !== null) await this.objects.remove(object);
      throw error;
    }
    this.saved(rows.length - 1);
  }

  #select() {
    return this.database.kysely
      .selectFrom('terminal_piece')
      .where('session', '=', this.place.session)
      .where('terminal', '=', this.place.terminal);
  }
}

const hasHole = ({ kept, length }: Row): boolean => kept < length;

const keptBy = (rows: readonly Row[]): number => rows.reduce((sum, { kept }) => sum + kept, 0);

function endOf(rows: readonly Row[]): number {
  const last = rows.at(-1);
  return last ? last.start + last.length : 0;
}

/** Rows that follow each other; only the last one of each run may have a hole, at its end. */
function runsOf(rows: readonly Row[]): Row[][] {
  return chunks(rows, (before) => hasHole(before));
}

/** Neighbours that are small, each other row alone. */
function smallOnes(rows: readonly Row[]): Row[][] {
  const isSmall = ({ kept }: Row) => kept < smallRow;
  return chunks(rows, (before, next) => !isSmall(before) || !isSmall(next));
}

/** The first rows that fit into an object, and at least one. */
function objectOf(rows: readonly Row[]): Row[] {
  let bytes = 0;
  const end = rows.findIndex(({ kept }) => (bytes += kept) > mostObject);
  return rows.slice(0, end === -1 ? rows.length : Math.max(1, end));
}

function chunks(rows: readonly Row[], isCut: (before: Row, next: Row) => boolean): Row[][] {
  const found: Row[][] = [];
  for (const row of rows) {
    const before = found.at(-1)?.at(-1);
    if (!before || isCut(before, row)) found.push([row]);
    else found.at(-1)?.push(row);
  }
  return found;
}
