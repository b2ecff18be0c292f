import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError, ruleMatches, type NewRule, type Rule, type RuleSubject } from '@belay/protocol';
import type { Selectable } from 'kysely';
import { EventLog } from '../logs/event-log.js';
import { Database, notStored } from '../storage/database.js';
import type { RuleTable } from '../storage/database-schema.js';

/** Rules that users created, newest first. */
@Injectable()
export class RulesStore {
  constructor(
    private readonly database: Database,
    private readonly log: EventLog,
  ) {}

  async list(): Promise<Rule[]> {
    return (await this.#rows()).map(ruleOf);
  }

  /** Throws `invalid_input` when the scope needs a session, `not_found` when that session does not exist. */
  async create(rule: NewRule): Promise<Rule> {
    const workspace = await this.#workspaceOf(rule);
    const row = {
      id: randomUUID(),
      created: new Date().toISOString(),
      scope: rule.scope,
      session: rule.scope === 'all' ? null : (rule.session ?? null),
      workspace,
      operation: rule.operation,
      pattern: rule.pattern,
      verdict: rule.verdict,
      expires: rule.expires,
      uses: 0,
    };
    await this.database.kysely.insertInto('rule').values(row).execute().catch(notStored);
    return ruleOf(row);
  }

  async remove(id: string): Promise<void> {
    const { numDeletedRows } = await this.database.kysely
      .deleteFrom('rule')
      .where('id', '=', id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw new AppError('not_found', `There is no rule ${id}.`);
  }

  /** The rule that decides a call; its use is counted. Rejecting rules take precedence over allowing ones. */
  async decide(session: string, match: RuleSubject): Promise<Rule | undefined> {
    const { workspace } = await this.log.settings(session);
    const now = new Date();
    const fitting = (await this.#rows()).filter(
      (row) =>
        counts(row, { session, workspace }) &&
        (row.expires === null || new Date(row.expires) > now) &&
        ruleMatches(ruleOf(row), match),
    );
    const row = fitting.find((each) => each.verdict === 'rejected') ?? fitting[0];
    if (!row) return undefined;
    await this.database.kysely
      .updateTable('rule')
      .set((set) => ({ uses: set('uses', '+', 1) }))
      .where('id', '=', row.id)
      .execute()
      .catch(notStored);
    return ruleOf(row);
  }

  /** The sessions that a rule applies to; null for all. */
  async reach(rule: NewRule): Promise<string[] | null> {
    if (rule.scope === 'all') return null;
    const workspace = await this.#workspaceOf(rule);
    const sessions = (await this.log.summaries()).map(({ id }) => id);
    const reached: string[] = [];
    for (const session of sessions) {
      const place = { session, workspace: (await this.log.settings(session)).workspace };
      const row = { scope: rule.scope, session: rule.session ?? null, workspace };
      if (counts(row, place)) reached.push(session);
    }
    return reached;
  }

  #rows(): Promise<Selectable<RuleTable>[]> {
    return this.database.kysely
      .selectFrom('rule')
      .selectAll()
      .orderBy('created', 'desc')
      .orderBy('id')
      .execute();
  }

  async #workspaceOf(rule: NewRule): Promise<string | null> {
    if (rule.scope === 'all') return null;
    if (!rule.session) {
      throw new AppError(
        'invalid_input',
        `A rule for one ${rule.scope} needs a session. Set \`session\`.`,
      );
    }
    const { workspace } = await this.log.settings(rule.session);
    return rule.scope === 'workspace' ? workspace : null;
  }
}

/** A session with an empty workspace shares it with no other session. */
function counts(
  rule: Pick<RuleTable, 'scope' | 'session' | 'workspace'>,
  place: { session: string; workspace: string | null },
): boolean {
  if (rule.scope === 'all' || rule.session === place.session) return true;
  return (
    rule.scope === 'workspace' && rule.workspace !== null && rule.workspace === place.workspace
  );
}

function ruleOf(stored: Selectable<RuleTable>): Rule {
  const { session, workspace: _, ...row } = stored;
  return { ...row, ...(session && { session }) } as Rule;
}
