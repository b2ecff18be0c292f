import { Injectable } from '@nestjs/common';
import { AppError, taskTemplate, type SavedTemplate, type TaskTemplate } from '@belay/protocol';
import type { Caller } from '../access/caller.js';
import { Database } from '../storage/database.js';
import type { DatabaseConnection } from '../storage/database-schema.js';
import { exclusively } from '../storage/exclusively.js';

const maxTemplates = 100;

type Owner = Pick<Caller, 'id'>;

/** Task templates of each caller, which no other caller sees. */
@Injectable()
export class TemplatesStore {
  constructor(private readonly database: Database) {}

  /** Sorted by name. Unreadable templates are left out. */
  async list({ id }: Owner): Promise<SavedTemplate[]> {
    const rows = await this.#of(id).orderBy('name').execute();
    return rows.flatMap(({ name, content }) => {
      const read = contentOf(content);
      return read ? { name, ...read } : [];
    });
  }

  /** Replaces a template with the same name. Throws `limit_reached` for one too many. */
  save({ id }: Owner, name: string, template: TaskTemplate): Promise<SavedTemplate> {
    return exclusively(this.database, 'task_template', async (connection) => {
      const others = (await this.#of(id, connection).execute()).filter((row) => row.name !== name);
      if (others.length >= maxTemplates)
        throw new AppError('limit_reached', `There are ${maxTemplates} templates. Remove one.`);
      const content = JSON.stringify(template);
      await connection
        .insertInto('task_template')
        .values({ caller: id, name, content })
        .onConflict((conflict) => conflict.columns(['caller', 'name']).doUpdateSet({ content }))
        .execute();
      return { name, ...template };
    });
  }

  async remove({ id }: Owner, name: string): Promise<void> {
    const { numDeletedRows } = await this.database.kysely
      .deleteFrom('task_template')
      .where('caller', '=', id)
      .where('name', '=', name)
      .executeTakeFirst();
    if (numDeletedRows === 0n)
      throw new AppError('not_found', `There is no template ${name}. List them: belay templates`);
  }

  #of(caller: string, connection: DatabaseConnection = this.database.kysely) {
    return connection
      .selectFrom('task_template')
      .select(['name', 'content'])
      .where('caller', '=', caller);
  }
}

function contentOf(text: string): TaskTemplate | undefined {
  try {
    return taskTemplate.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
