import { Injectable } from '@nestjs/common';
import { ContainerHost } from '@belay/containers';
import { canonicalDigest, canonicalJson, chainAlgorithm, ObservedLog } from '@belay/proof';
import {
  agentChangeType,
  AppError,
  belayVersion,
  changeRecord,
  changeStatement,
  ignoreError,
  signedEnvelope,
  statementMediaType,
  statementType,
  type ChangeRecord,
  type ChangeStatement,
  type LogObservations,
  type RerunReport,
  type SignedEnvelope,
  type StatedAutomation,
  type TestResultStatement,
} from '@belay/protocol';
import { Config } from '../config.js';
import { LogHeads, type LogHead } from '../logs/log-heads.js';
import { Database } from '../storage/database.js';
import { SigningKeys } from './signing-keys.js';
import { StoredLog } from './stored-log.js';
import { testResultOf } from './test-result-of.js';

/** A change that is about to become a commit, as the server itself compared it. */
export type ProvenChange = ChangeRecord['change'];

/** What is said about a change, with its digest, by which it is known. */
export interface MadeRecord {
  id: string;
  record: ChangeRecord;
}

/** A signed statement, and whose it is. */
export interface StoredEvidence {
  session: string;
  envelope: SignedEnvelope;
  /** The reruns in the standard form; null if nothing was run again. */
  testResult: SignedEnvelope | null;
}

interface RecordOptions {
  /** The commit that the same change was made into before. */
  earlier: string | undefined;
  /** The run that publishes it; undefined for other publishers. */
  automation: StatedAutomation | undefined;
  reruns: () => Promise<RerunReport | null>;
  /** The digest of the trace of its lines, which is kept. */
  trace: () => Promise<ChangeRecord['trace']>;
}

/**
 * Signed statements about published changes. What they say is read here, from the log and from the server’s own
 * comparison: nothing is signed because a caller or an agent says so.
 */
@Injectable()
export class Evidence {
  readonly #server: string | null;

  constructor(
    private readonly config: Config,
    private readonly database: Database,
    private readonly log: StoredLog,
    private readonly heads: LogHeads,
    private readonly keys: SigningKeys,
    private readonly host: ContainerHost,
  ) {
    this.#server = config.publicUrl ?? null;
  }

  /**
   * What will be said about a change. Its commit does not exist yet, and is to name the record by its id. For a change
   * that was made into the commit `earlier` before, it is the same again, so that the commit can be, too. `reruns` and
   * `trace` are called for another one.
   */
  async record(
    session: string,
    change: ProvenChange,
    { earlier, automation, reruns, trace }: RecordOptions,
  ): Promise<MadeRecord> {
    const made = earlier === undefined ? undefined : await this.recordOf(session, earlier);
    if (made && isSameChange(made.record, { change, automation })) return made;
    const found = await reruns();
    const traced = await trace();
    const head = await this.heads.head(session);
    const { created, seq, chainedFrom } = head;
    const observed = await this.#observed(head);
    const record = changeRecord.parse({
      version: 1,
      server: this.#server,
      belay: belayVersion,
      made: new Date().toISOString(),
      change,
      session: { id: session, created },
      log: { algorithm: chainAlgorithm, seq, head: head.head, chainedFrom },
      image: await this.#image(observed.agent),
      observed,
      reruns: found,
      ...(automation && { automation }),
      ...(traced && { trace: traced }),
    } satisfies ChangeRecord);
    return { id: canonicalDigest(record), record };
  }

  /** Signs that this commit is the change of the record, and keeps the statement. */
  async sign({ id, record }: MadeRecord, commit: string): Promise<void> {
    const { repository, branch, tree } = record.change;
    const statement: ChangeStatement = {
      _type: statementType,
      subject: [
        { name: `git+${repository}@refs/heads/${branch}`, digest: { gitCommit: commit } },
        { name: 'tree', digest: tree },
      ],
      predicateType: agentChangeType,
      predicate: { ...record, record: { sha256: id } },
    };
    const envelope = await this.#signed(statement);
    const result = testResultOf(statement);
    const signed = { envelope, test_result: result ? await this.#signed(result) : null };
    const session = record.session.id;
    await this.database.kysely
      .insertInto('evidence')
      .values({ id, session, commit_id: commit, ...signed, created: record.made })
      // The commit that had this record before was not pushed.
      .onConflict((one) => one.column('id').doUpdateSet({ commit_id: commit, ...signed }))
      .execute();
  }

  /** The statement with this id. Throws `not_found`. */
  async get(id: string): Promise<StoredEvidence> {
    const row = await this.#stored().where('id', '=', id).executeTakeFirst();
    if (!row) throw noSuchEvidence(id);
    const { session, envelope, test_result: result } = row;
    return {
      session,
      envelope: signedEnvelope.parse(JSON.parse(envelope)),
      testResult: result === null ? null : signedEnvelope.parse(JSON.parse(result)),
    };
  }

  /** The newest statement about a commit that the session published, or any session. */
  async ofCommit(commit: string, session?: string): Promise<SignedEnvelope | undefined> {
    const all = this.#stored().where('commit_id', '=', commit);
    const row = await (session === undefined ? all : all.where('session', '=', session))
      .orderBy('created', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && signedEnvelope.parse(JSON.parse(row.envelope));
  }

  /** What was said about a commit that the session published; undefined for one of an earlier version. */
  async recordOf(session: string, commit: string): Promise<MadeRecord | undefined> {
    const envelope = await this.ofCommit(commit, session);
    if (!envelope) return undefined;
    const text = Buffer.from(envelope.payload, 'base64').toString();
    const { record, ...rest } = changeStatement.parse(JSON.parse(text)).predicate;
    return { id: record.sha256, record: rest };
  }

  /** The text of its envelope. */
  async #signed(statement: ChangeStatement | TestResultStatement): Promise<string> {
    const payload = Buffer.from(canonicalJson(statement));
    return JSON.stringify(await this.keys.sign(statementMediaType, payload));
  }

  #stored() {
    return this.database.kysely
      .selectFrom('evidence')
      .select(['session', 'envelope', 'test_result']);
  }

  async #image({ image, machine }: LogObservations['agent']): Promise<ChangeRecord['image']> {
    const name = image ?? this.config.image;
    if (machine !== null) return { name, id: null };
    const id = await this.host.images.id(name).catch(ignoreError('the statement says it'));
    return { name, id: id ?? null };
  }

  async #observed(head: LogHead): Promise<LogObservations> {
    const gathered = new ObservedLog();
    for await (const rows of this.log.pages(head)) for (const row of rows) gathered.add(row);
    return gathered.result;
  }
}

function isSameChange(
  said: ChangeRecord,
  { change, automation }: Pick<RecordOptions, 'automation'> & { change: ProvenChange },
): boolean {
  const [before, now] = [said.automation ?? null, automation ?? null];
  return canonicalJson([said.change, before]) === canonicalJson([change, now]);
}

export const noSuchEvidence = (id: string): AppError =>
  new AppError('not_found', `There is no statement ${id}.`);
