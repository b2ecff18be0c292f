import { Injectable } from '@nestjs/common';
import type { NotedHead } from '@belay/protocol';
import { Database } from '../storage/database.js';

/** The ends of logs as they were noted, also of sessions that are gone. */
@Injectable()
export class NotedHeads {
  constructor(private readonly database: Database) {}

  /** In the order in which they were noted. */
  async after(id: number, limit: number): Promise<NotedHead[]> {
    return this.database.kysely
      .selectFrom('log_head')
      .selectAll()
      .where('id', '>', id)
      .orderBy('id')
      .limit(limit)
      .execute();
  }
}
