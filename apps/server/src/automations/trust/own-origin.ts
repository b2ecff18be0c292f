import { Injectable } from '@nestjs/common';
import { Database } from '../../storage/database.js';
import type { Forge } from '../forges/forge.js';

/** Who this server is at a git host, which repository is meant, and what the server itself pushed. */
@Injectable()
export class OwnOrigin {
  constructor(private readonly database: Database) {}

  /** The user of the server’s token and the repository, by the host’s ids. */
  async of(forge: Forge): Promise<{ self: string; repository: string }> {
    const rows = await this.database.kysely
      .selectFrom('forge_source')
      .select(['repository', 'repository_id', 'self_id'])
      .where('host', '=', forge.host)
      .execute();
    const path = forge.path.toLowerCase();
    const source = rows.find(({ repository }) => repository.toLowerCase() === path);
    if (source) return { self: source.self_id, repository: source.repository_id };
    const [self, repository] = await Promise.all([forge.self(), forge.repository()]);
    return { self: self.id, repository: repository.id };
  }

  /** Whether a run of an automation pushed this commit. */
  async pushed(sha: string): Promise<boolean> {
    const found = await this.database.kysely
      .selectFrom('automation_outgoing')
      .select('id')
      .where('kind', 'in', ['push', 'pull'])
      .where('state', 'in', ['planned', 'sent'])
      .where(({ or, eb }) => or([eb('remote_id', '=', sha), eb('content', 'like', `%${sha}%`)]))
      .limit(1)
      .executeTakeFirst();
    return found !== undefined;
  }
}
