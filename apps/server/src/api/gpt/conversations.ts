import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { OnLead } from '../../storage/on-lead.js';
import type { Caller } from '../../access/caller.js';
import { Database, notStored } from '../../storage/database.js';

/** The limit of remembered conversations; beyond it, the caller with the most loses one. */
const maxConversations = 10_000;

/** The session of each ChatGPT conversation, separately for each caller; kept across restarts of the server. */
@Injectable()
export class Conversations implements OnLead {
  /** By caller; the least recently used conversation comes first. */
  readonly #sessions = new Map<string, Map<string, string>>();
  #count = 0;

  constructor(private readonly database: Database) {}

  async onLead(): Promise<void> {
    await this.database.migrated();
    const { kysely } = this.database;
    const known = kysely.selectFrom('session').select('id');
    await kysely.deleteFrom('gpt_conversation').where('session', 'not in', known).execute();
    const rows = await kysely.selectFrom('gpt_conversation').selectAll().orderBy('bound').execute();
    for (const { caller, conversation, session } of rows)
      this.#remember({ id: caller }, conversation, session);
  }

  /** Resolves when it is stored. */
  async bind(caller: Caller, conversation: string, session: string): Promise<void> {
    const forgotten = this.#remember(caller, conversation, session);
    const row = { caller: caller.id, conversation, session, bound: new Date().toISOString() };
    const { kysely } = this.database;
    await kysely
      .insertInto('gpt_conversation')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(['caller', 'conversation'])
          .doUpdateSet({ session: row.session, bound: row.bound }),
      )
      .execute()
      .catch(notStored);
    if (!forgotten) return;
    await kysely
      .deleteFrom('gpt_conversation')
      .where('caller', '=', forgotten.caller)
      .where('conversation', '=', forgotten.conversation)
      .execute()
      .catch(notStored);
  }

  session({ id }: Caller, conversation: string): string | undefined {
    const own = this.#sessions.get(id);
    const session = own?.get(conversation);
    if (!own || session === undefined) return undefined;
    own.delete(conversation);
    own.set(conversation, session);
    return session;
  }

  /** Returns the conversation that was removed, if any. */
  #remember({ id }: Pick<Caller, 'id'>, conversation: string, session: string) {
    const own = this.#sessions.get(id) ?? new Map<string, string>();
    this.#sessions.set(id, own);
    if (!own.delete(conversation)) this.#count += 1;
    own.set(conversation, session);
    return this.#count > maxConversations ? this.#forgetOne() : undefined;
  }

  #forgetOne(): { caller: string; conversation: string } | undefined {
    let [caller, most] = ['', new Map<string, string>()];
    for (const [id, own] of this.#sessions) if (own.size > most.size) [caller, most] = [id, own];
    const [conversation] = most.keys();
    if (conversation === undefined) return undefined;
    most.delete(conversation);
    this.#count -= 1;
    return { caller, conversation };
  }
}

/** The conversation id in ChatGPT’s headers. */
export function conversationIdOf(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['openai-conversation-id'];
  return typeof id === 'string' && /^[\x21-\x7e]{1,200}$/.test(id) ? id : undefined;
}
