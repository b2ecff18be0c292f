import { Injectable } from '@nestjs/common';
import {
  AppError,
  type ActionPermissions,
  type ActionService,
  type InstalledAction,
  type SessionAction,
} from '@belay/protocol';
import { versionsOf, type ActionRecord } from './action-record.js';
import { ActionStore } from './action.store.js';
import { inputSchemaOf } from './input-schema.js';
import { InstalledServers } from './installed-servers.js';

/** What is needed to run one call of an action. Its folder is `/action` in the image, owned by root. */
export interface ActionProgram {
  /** The id of the image. */
  image: string;
  /** The command without the arguments of the call. */
  command: readonly string[];
  services: Readonly<Record<string, ActionService>>;
  permissions: ActionPermissions;
}

/**
 * The installed actions. Sessions keep what `forSession` returned, including the image’s id; an update leaves that
 * image in place for them, a removal does not.
 */
@Injectable()
export class InstalledActions {
  constructor(
    private readonly store: ActionStore,
    private readonly servers: InstalledServers,
  ) {}

  list(): InstalledAction[] {
    return this.store.all.map((record) => this.#shown(record));
  }

  has(name: string): boolean {
    return this.store.all.some((one) => one.name === name);
  }

  /** Throws `not_found`. */
  known(name: string): InstalledAction {
    return this.#shown(this.store.known(name));
  }

  /**
   * The actions of a new session: all enabled ones, or those that it names. Throws `not_found` for an unknown name,
   * `invalid_input` for one that cannot be called.
   */
  forSession(names: readonly string[] | undefined): SessionAction[] {
    const records = names
      ? [...new Set(names)].map((name) => callable(this.store.known(name)))
      : this.store.all.filter(({ enabled, kind }) => enabled && kind !== 'mcp');
    return records.flatMap((record) => sessionActionOf(record));
  }

  /** The action’s declared secrets that are set. They stay on the server. */
  secretsOf(name: string): Record<string, string> {
    return this.store.declaredSecretsOf(name);
  }

  /** Throws `not_found`, and `invalid_input` for a secret that the action does not declare. */
  assertDeclares(name: string, key: string): void {
    const { secrets } = this.store.known(name).current.manifest.permissions;
    if (secrets.includes(key)) return;
    const known = secrets.length > 0 ? `only ${secrets.join(', ')}` : 'none';
    throw new AppError('invalid_input', `${name} does not ask for the secret ${key}: ${known}.`);
  }

  /**
   * The program of the version with this image. Throws `not_found` when the action or this version was removed, and
   * `conflict` without a secret that it requires.
   */
  programOf(name: string, image: string): ActionProgram {
    const version = versionsOf(this.store.known(name)).find((one) => one.image === image);
    if (!version) {
      throw new AppError(
        'not_found',
        `The version of the action ${name} that this session began with is gone. Start a new session to use it as it is now.`,
      );
    }
    const { services, permissions } = version.manifest;
    this.store.assertHasSecrets(name, permissions);
    return {
      image,
      command: ['/action/run'],
      services: mapValues(services, (service) => ({ ...service, image: service.image ?? image })),
      permissions,
    };
  }

  #shown(record: ActionRecord): InstalledAction {
    const { name, kind, enabled, current } = record;
    const { manifest, readme, source, installed } = current;
    const saved = this.store.secretsOf(name);
    const missingSecrets = manifest.permissions.secrets.filter((key) => !Object.hasOwn(saved, key));
    const shown = { name, kind, manifest, readme, source, enabled, installed };
    const error = this.servers.stateOf(name)?.error ?? null;
    return { ...shown, state: error === null ? 'ready' : 'failed', error, missingSecrets };
  }
}

function callable(record: ActionRecord): ActionRecord {
  if (record.kind !== 'mcp') return record;
  throw new AppError(
    'invalid_input',
    `${record.name} is an MCP server: choose it with the MCP servers of the session.`,
  );
}

function sessionActionOf({ name, kind, current }: ActionRecord): SessionAction[] {
  const { manifest, digest } = current;
  const image = kind === 'skill' ? digest : current.image;
  if (image === null) return [];
  return [
    {
      name,
      ...(kind === 'skill' && { kind }),
      ...(manifest.asynchronous && { asynchronous: true as const }),
      title: manifest.name_for_human,
      description: manifest.description_for_model,
      inputSchema: inputSchemaOf(manifest),
      permissions: manifest.permissions,
      image,
    },
  ];
}

const mapValues = <T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
