import { buffer } from 'node:stream/consumers';
import type { OnApplicationShutdown } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { sql, type Selectable } from 'kysely';
import type { Database } from '../storage/database.js';
import type { TerminalPieceTable } from '../storage/database-schema.js';
import type { ObjectRange, ObjectStore } from '../storage/object-store.js';
import type { EventLog } from './event-log.js';
import { PieceFolder, pieceOverhead } from './piece-folder.js';
import type {
  BeginOptions,
  TerminalPiece,
  TerminalPlace,
  TerminalStore,
} from './terminal-store.js';

/** The log says by which term this server writes for a session, which an append without events makes it do. */
type Terms = Pick<EventLog, 'term' | 'append'>;

/** What this server knows of a terminal as its only writer. */
interface Writer {
  /** Of its session; undefined before that is created. */
  term: number | undefined;
  size: number;
  last: Pick<Selectable<TerminalPieceTable>, 'start' | 'length'> | undefined;
}

/**
 * The output of terminals for servers without a folder of their own: pieces as rows of the database, of which many
 * together become an object. A row is only inserted while the term of the session is the writer’s, so a server that has
 * been followed by another changes nothing, however late it writes.
 */
export class TerminalPieces implements TerminalStore, OnApplicationShutdown {
  readonly #writers = new Map<string, Writer>();
  readonly #folders = new Map<string, PieceFolder>();
  /** The bytes of each session that this server writes for. */
  readonly #used = new Map<string, { term: number | undefined; bytes: number }>();

  constructor(
    private readonly database: Database,
    private readonly objects: ObjectStore,
    private readonly log: Terms,
  ) {}

  async size(place: TerminalPlace): Promise<number> {
    const writer = this.#writer(place);
    if (writer) return writer.size;
    return endOf(await this.#last(place));
  }

  async begin(place: TerminalPlace, { isNew = false }: BeginOptions = {}): Promise<number> {
    const { session } = place;
    if (!isNew && this.log.term(session) === undefined) await this.log.append(session, []);
    const known = this.#writer(place);
    if (known) return known.size;
    // Read after the claim: from then on nobody else adds anything.
    const term = this.log.term(session);
    const last = await this.#last(place);
    const size = endOf(last);
    this.#writers.set(keyOf(place), { term, size, last });
    return size;
  }

  async append(piece: TerminalPiece): Promise<void> {
    const writer = this.#writer(piece);
    if (!writer) throw notTheWriter();
    const { kept, length } = piece;
    const { last } = writer;
    const isStored =
      last && kept.byteLength === 0
        ? await this.#lengthen(piece, last, writer.term)
        : await this.#insert(piece, writer.term);
    if (!isStored) {
      this.#writers.delete(keyOf(piece));
      throw notTheWriter();
    }
    if (last && kept.byteLength === 0) last.length += length;
    else {
      writer.last = { start: writer.size, length };
      this.#count(piece.session, kept.byteLength + pieceOverhead);
      this.#folder(piece).added(kept.byteLength, writer.size);
    }
    writer.size += length;
  }

  async read({ session, terminal }: TerminalPlace, from: number, to: number): Promise<Buffer> {
    const rows = await this.database.kysely
      .selectFrom('terminal_piece')
      .selectAll()
      .where('session', '=', session)
      .where('terminal', '=', terminal)
      .where('start', '<', to)
      .where(sql<number>`start + length`, '>', from)
      .orderBy('start')
      .execute();
    const bytes = Buffer.alloc(Math.max(0, Math.min(to, endOf(rows.at(-1))) - from));
    for (const row of rows) {
      const part = { from: Math.max(0, from - row.start), to: Math.min(row.kept, to - row.start) };
      if (part.from >= part.to) continue;
      const found = row.bytes?.subarray(part.from, part.to) ?? (await this.#ofObject(row, part));
      found.copy(bytes, row.start + part.from - from);
    }
    return bytes;
  }

  async list(session: string): Promise<string[]> {
    const rows = await this.database.kysely
      .selectFrom('terminal_piece')
      .select('terminal')
      .distinct()
      .where('session', '=', session)
      .execute();
    return rows.map(({ terminal }) => terminal);
  }

  async used(session: string): Promise<number> {
    const term = this.log.term(session);
    const known = this.#used.get(session);
    if (known && known.term === term) return known.bytes;
    const row = await this.database.kysely
      .selectFrom('terminal_piece')
      .select(sql<number | null>`sum(kept + ${sql.lit(pieceOverhead)})`.as('bytes'))
      .where('session', '=', session)
      .executeTakeFirst();
    const bytes = Number(row?.bytes ?? 0);
    this.#used.set(session, { term, bytes });
    return bytes;
  }

  async remove(session: string): Promise<void> {
    for (const [key, folder] of this.#folders) {
      if (!key.startsWith(`${session}/`)) continue;
      this.#folders.delete(key);
      await folder.settled();
    }
    for (const key of this.#writers.keys())
      if (key.startsWith(`${session}/`)) this.#writers.delete(key);
    this.#used.delete(session);
    await this.database.kysely
      .deleteFrom('terminal_piece')
      .where('session', '=', session)
      .execute();
    await this.objects.removeFolder(`terminals/${session}`);
  }

  async onApplicationShutdown(): Promise<void> {
    for (const folder of this.#folders.values()) await folder.settled();
  }

  #folder(place: TerminalPlace): PieceFolder {
    const key = keyOf(place);
    const { session, terminal } = place;
    const folder =
      this.#folders.get(key) ??
      new PieceFolder(this.database, this.objects, { session, terminal }, (rows) =>
        this.#count(session, -rows * pieceOverhead),
      );
    this.#folders.set(key, folder);
    return folder;
  }

  #count(session: string, bytes: number): void {
    const used = this.#used.get(session);
    if (used) used.bytes += bytes;
  }

  /** Undefined if this server is not, or no longer, the writer. */
  #writer(place: TerminalPlace): Writer | undefined {
    const known = this.#writers.get(keyOf(place));
    return known && known.term === this.log.term(place.session) ? known : undefined;
  }

  async #last({ session, terminal }: TerminalPlace) {
    return this.database.kysely
      .selectFrom('terminal_piece')
      .select(['start', 'length'])
      .where('session', '=', session)
      .where('terminal', '=', terminal)
      .orderBy('start', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  /** Resolves with false, and stores nothing, when another server writes for the session. */
  async #insert(piece: TerminalPiece, term: number | undefined): Promise<boolean> {
    const { session, terminal, offset: start, kept, length } = piece;
    const bytes = Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength);
    const row = { session, terminal, start, length, kept: kept.byteLength, bytes, object: null };
    const { kysely, kind } = this.database;
    const into = kysely.insertInto('terminal_piece');
    const insert =
      term === undefined
        ? into.values(row)
        : into
            .columns(['session', 'terminal', 'start', 'length', 'kept', 'bytes'])
            .expression((query) =>
              query
                .selectFrom('session')
                .select([
                  'session.id',
                  sql`${terminal}`.as('terminal'),
                  sql`${start}`.as('start'),
                  sql`${length}`.as('length'),
                  sql`${row.kept}`.as('kept'),
                  sql`${bytes}`.as('bytes'),
                ])
                .where('session.id', '=', session)
                .where('session.term', '=', term)
                .$if(kind === 'postgres', (locked) => locked.forShare()),
            );
    const { numInsertedOrUpdatedRows: inserted = 0n } = await insert
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    return inserted > 0n;
  }

  /** The same, for output that is not kept: it needs no row of its own. */
  async #lengthen(
    { session, terminal, length }: TerminalPiece,
    last: NonNullable<Writer['last']>,
    term: number | undefined,
  ): Promise<boolean> {
    const { kysely, kind } = this.database;
    const { numUpdatedRows } = await kysely
      .updateTable('terminal_piece')
      .set({ length: last.length + length })
      .where('session', '=', session)
      .where('terminal', '=', terminal)
      .where('start', '=', last.start)
      .where('length', '=', last.length)
      .$if(term !== undefined, (update) =>
        update.where((where) =>
          where.exists(
            where
              .selectFrom('session')
              .select('session.id')
              .where('session.id', '=', session)
              .where('session.term', '=', term ?? 0)
              .$if(kind === 'postgres', (locked) => locked.forShare()),
          ),
        ),
      )
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async #ofObject(
    { object, session, terminal }: Selectable<TerminalPieceTable>,
    range: ObjectRange,
  ): Promise<Buffer> {
    const found = object === null ? undefined : await this.objects.open(object, range);
    if (!found)
      throw new AppError(
        'internal',
        `A part of the terminal ${terminal} of the session ${session} is missing: restore the bucket’s objects from a backup.`,
      );
    return buffer(found.content);
  }
}

const keyOf = ({ session, terminal }: TerminalPlace): string => `${session}/${terminal}`;

const endOf = (row: { start: number; length: number } | undefined): number =>
  row ? row.start + row.length : 0;

const notTheWriter = (): AppError =>
  new AppError('unavailable', 'Another server continues this session now. Connect again.');
