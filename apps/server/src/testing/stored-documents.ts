import { z } from 'zod';
import { Config } from '../config.js';
import { Database } from '../storage/database.js';
import { Documents } from '../storage/documents.js';
import type { TestServer } from './server.js';

/** The values of all documents that a server has stored, by name. */
export async function storedDocuments({ app }: TestServer): Promise<Record<string, unknown>> {
  const [config, database] = [app.get(Config), app.get(Database)];
  const documents = await Documents.load(config, database);
  const rows = await database.kysely.selectFrom('document').select('name').execute();
  return Object.fromEntries(
    rows.map(({ name }) => [name, documents.open(name, z.unknown(), null).value]),
  );
}
