import { existsSync, readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { AppError, providerName, type ProviderName, type ProviderSetup } from '@belay/protocol';
import { z } from 'zod';
import { Config, type ProviderConfig } from '../config.js';

const saved = z.partialRecord(
  providerName,
  z.object({ key: z.string().optional(), url: z.string().optional() }),
);
type Saved = z.infer<typeof saved>;

/** What providers are opened with: the environment’s settings, and over them what a person has set. */
export type ModelSetup = Pick<Config, 'environment' | 'examples' | 'providers'>;

/**
 * Keys and addresses of providers that a person sets in the dashboard. They are written to a file of the server’s
 * user alone and never read back through a door: a door learns only whether one is there.
 */
@Injectable()
export class ProviderKeys {
  private readonly file: string;
  private saved: Saved;

  constructor(private readonly config: Config) {
    this.file = join(config.data, 'keys.json');
    this.saved = existsSync(this.file) ? read(this.file) : {};
  }

  get setup(): ModelSetup {
    const { environment, examples } = this.config;
    const merged = (name: ProviderName): ProviderConfig => ({
      key: this.saved[name]?.key ?? this.config.providers[name].key,
      url: this.saved[name]?.url ?? this.config.providers[name].url,
    });
    const providers = {
      openai: merged('openai'),
      anthropic: merged('anthropic'),
      google: merged('google'),
      'openai-compatible': merged('openai-compatible'),
    };
    return { environment, examples, providers };
  }

  list(): ProviderSetup[] {
    const { providers } = this.setup;
    return providerName.options.map((name) => ({
      name,
      key: this.saved[name]?.key ? 'saved' : this.config.providers[name].key ? 'environment' : null,
      url: providers[name].url ?? null,
    }));
  }

  /** Left out stays as it is, null goes back to the environment’s. Stored before it counts. */
  async set(
    name: ProviderName,
    change: { key?: string | null; url?: string | null },
  ): Promise<void> {
    const before = this.saved[name] ?? {};
    const after = {
      key: change.key === undefined ? before.key : (change.key ?? undefined),
      url: change.url === undefined ? before.url : (change.url ?? undefined),
    };
    const next = { ...this.saved, [name]: after };
    await this.write(next);
    this.saved = next;
  }

  private async write(next: Saved): Promise<void> {
    const draft = `${this.file}.new`;
    try {
      await writeFile(draft, JSON.stringify(next), { mode: 0o600 });
      await rename(draft, this.file);
    } catch (error) {
      await rm(draft, { force: true });
      const reason = error instanceof Error ? error.message : String(error);
      throw new AppError('internal', `The key could not be written to the data folder: ${reason}`);
    }
  }
}

function read(file: string): Saved {
  try {
    return saved.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    throw new AppError(
      'invalid_input',
      `${file} cannot be read: mend it, or remove it and set the keys again.`,
    );
  }
}
